// For tests: ledgers with logs, as in a coordinator that leads.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { JobSpec } from '@halogrid/proto';
import { createLog } from '@halogrid/service/log';
import type { LogHome } from '../ledger-jobs.ts';
import { FolderLogs } from '../log/folder-logs.ts';
import { Journal } from '../log/journal.ts';
import { type LogDisk, realDisk, type WrittenFile } from '../log/log-file.ts';
import { LogLedger, type LogLedgerOptions } from '../log-ledger.ts';
import { MemoryRegistry } from '../registry/memory-registry.ts';
import { FencedError, type JobChange, type Registry } from '../registry/registry.ts';
import { type CrashStage, crashingWrites } from './ledger-crashes.ts';
import { memoryParts } from './memory-parts.ts';

/**
 * A ledger that has taken over the registry and its jobs, whose logs are in folders of `folder`. Its epoch is the
 * registry's unless given. If a write finds that the registry is lost, `lost` is called and the write never settles; a
 * read rejects.
 */
export async function openLogLedger(
  folder: string,
  registry: Registry = new MemoryRegistry(),
  {
    epoch,
    lost,
    makesFolders = true,
    partsOf = memoryParts,
  }: Partial<Pick<LogLedgerOptions, 'epoch' | 'lost'> & Pick<LogHome, 'partsOf'>> & { makesFolders?: boolean } = {},
): Promise<LogLedger> {
  // A lease that ends at once lets the next ledger lead.
  const acquired = (await registry.acquire('test', 0))!;
  // If several can lead, the jobs of earlier leaders are taken over.
  const { jobs = [] } = (await registry.shares?.look(acquired, new Map())) ?? {};
  const led = jobs.flatMap(({ jobId, leader }) => (leader === undefined ? [] : [{ jobId, leader }]));
  await registry.shares?.adopt(acquired, led);
  const folderOf = (jobId: string): string => {
    if (makesFolders) mkdirSync(join(folder, jobId), { recursive: true });
    return join(folder, jobId);
  };
  const log = createLog('test', 'silent');
  const journal = new Journal({ registry, epoch: acquired, log, lost, nowMs: () => performance.now() });
  const home: LogHome = {
    journal,
    registry,
    partsOf,
    logsOf: (jobId) => new FolderLogs(folderOf(jobId), jobId),
  };
  const ledger = new LogLedger({ epoch: epoch ?? acquired, homeOf: async () => home });
  await ledger.load(home);
  return ledger;
}

/** Processes with ledgers of logs over a registry. */
export function logStage(folder: string, registry: Registry): CrashStage {
  return {
    start: async () => {
      const { write, crash } = crashingWrites<JobChange>((epoch, changes) => registry.write(epoch, changes));
      const crashing = {
        shares: registry.shares,
        acquire: (holder: string, leaseMs: number) => registry.acquire(holder, leaseMs),
        jobs: (ids?: readonly string[]) => registry.jobs(ids),
        write,
      };
      return { ledger: await openLogLedger(folder, crashing as Registry), crash };
    },
    close: () => registry.close(),
  };
}

/** Processes that lead one job one after another in its folder, without a registry. */
export function folderStage(folder: string): CrashStage {
  let known: { jobId: string; spec: JobSpec } | undefined;
  const start = async () => {
    let hasCrashed = false;
    const openFile: LogDisk['open'] = async (path, flags) => {
      const file = await realDisk.open(path, flags);
      const writev: WrittenFile['writev'] = async (pieces, at) => {
        if (hasCrashed) throw new FencedError(0, undefined);
        return file.writev(pieces, at);
      };
      return { writev, datasync: () => file.datasync(), close: () => file.close() };
    };
    const journal = new Journal({ epoch: 1, log: createLog('test', 'silent'), nowMs: () => performance.now() });
    const home: LogHome = {
      journal,
      partsOf: memoryParts,
      logsOf: (jobId, spec) => {
        known = { jobId, spec };
        return new FolderLogs(folder, jobId, { ...realDisk, open: openFile });
      },
    };
    const ledger = new LogLedger({ epoch: 1, homeOf: async () => home });
    if (known) await ledger.loadFolder(home, known);
    const crash = (): void => {
      hasCrashed = true;
    };
    return { ledger, crash };
  };
  return { start, close: async () => {} };
}
