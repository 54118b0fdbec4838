import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after } from 'node:test';
import { memoryFolder, repeated } from '@halogrid/testing';
import { MemoryRegistry } from './registry/memory-registry.ts';
import { SqliteRegistry } from './registry/sqlite-registry.ts';
import { SharedMemoryRegistry, SharesMemory } from './registry/testing/shared-memory-registry.ts';
import { ledgerConformance } from './testing/ledger-conformance.ts';
import { ledgerCrashes } from './testing/ledger-crashes.ts';
import { folderStage, logStage, openLogLedger } from './testing/open-log-ledger.ts';

const folder = await mkdtemp(join(memoryFolder, 'halogrid-log-ledger-'));
after(() => rm(folder, { recursive: true, force: true }));
const newFolder = (): Promise<string> => mkdtemp(join(folder, 'job-'));

ledgerConformance('in logs, on MemoryRegistry', async (epoch) =>
  openLogLedger(await newFolder(), undefined, { epoch }),
);
ledgerConformance('in logs, on SqliteRegistry', async (epoch) => {
  const own = await newFolder();
  const registry = await SqliteRegistry.open(join(own, 'ledger.sqlite'));
  const ledger = await openLogLedger(own, registry, { epoch });
  // Without this, the threads of all runs of a property would pile up.
  const close = ledger.close.bind(ledger);
  ledger.close = async () => {
    await close();
    await registry.close();
  };
  return ledger;
});

ledgerCrashes(
  'in logs, on MemoryRegistry',
  async () => logStage(await newFolder(), new MemoryRegistry()),
  repeated(10, 150),
);
ledgerCrashes(
  'in logs, on SharedMemoryRegistry',
  async () => logStage(await newFolder(), new SharedMemoryRegistry(new SharesMemory())),
  repeated(5, 50),
);
ledgerCrashes(
  'in logs, on SqliteRegistry',
  async () => {
    const own = await newFolder();
    return logStage(own, await SqliteRegistry.open(join(own, 'ledger.sqlite')));
  },
  repeated(2, 20),
);
ledgerCrashes('in logs of a folder, without a registry', async () => folderStage(await newFolder()), repeated(10, 150));
