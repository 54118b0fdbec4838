import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { PostgresServer, skipPostgres } from '../registry/testing/postgres-server.ts';
import { openStore } from './store/open-store.ts';
import { ledgerConformance } from './testing/ledger-conformance.ts';
import { ledgerCrashes, storeStage } from './testing/ledger-crashes.ts';
import { openLedger } from './testing/open-ledger.ts';

const folder = await mkdtemp(join(tmpdir(), 'halogrid-ledger-'));
let server: PostgresServer;
before(async () => {
  if (!skipPostgres) server = await PostgresServer.start({ syncs: false });
});
after(async () => {
  await server?.remove();
  await rm(folder, { recursive: true, force: true });
});

let spools = 0;
const newStore = () => openStore(server.createSchema());

ledgerConformance(
  'on PostgresStore',
  async (epoch) => {
    const store = await newStore();
    const ledger = await openLedger(() => join(folder, `${spools++}`), store, { epoch });
    const close = ledger.close.bind(ledger);
    ledger.close = async () => {
      await close();
      await store.close();
    };
    return ledger;
  },
  { skip: skipPostgres, numRuns: 10 },
);

ledgerCrashes(
  'on PostgresStore',
  async () => {
    const store = await newStore();
    const spool = join(folder, `${spools++}`);
    return storeStage(store, (over) => openLedger(() => spool, over));
  },
  10,
  { skip: skipPostgres },
);
