import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { openRegistry } from './registry/open-registry.ts';
import { PostgresServer, skipPostgres } from './registry/testing/postgres-server.ts';
import { ledgerConformance } from './testing/ledger-conformance.ts';
import { ledgerCrashes } from './testing/ledger-crashes.ts';
import { logStage, openLogLedger } from './testing/open-log-ledger.ts';

const folder = await mkdtemp(join(tmpdir(), 'halogrid-ledger-'));
const newFolder = (): Promise<string> => mkdtemp(join(folder, 'job-'));
let server: PostgresServer;
before(async () => {
  if (!skipPostgres) server = await PostgresServer.start({ syncs: false });
});
after(async () => {
  await server?.remove();
  await rm(folder, { recursive: true, force: true });
});

ledgerConformance(
  'in logs, on PostgresRegistry',
  async (epoch) => {
    const registry = await openRegistry(server.createSchema());
    const ledger = await openLogLedger(await newFolder(), registry, { epoch });
    const close = ledger.close.bind(ledger);
    ledger.close = async () => {
      await close();
      await registry.close();
    };
    return ledger;
  },
  { skip: skipPostgres, numRuns: 10 },
);

ledgerCrashes(
  'in logs, on PostgresRegistry',
  async () => logStage(await newFolder(), await openRegistry(server.createSchema())),
  10,
  { skip: skipPostgres },
);
