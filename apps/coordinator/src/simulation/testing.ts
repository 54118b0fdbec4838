// What tests of simulated clusters share.
import { MemoryFiles } from '../ledger/memory-files.ts';
import { MemoryStore } from '../ledger/store/memory-store.ts';
import { openLedger } from '../ledger/testing.ts';
import { SimulatedCluster } from './simulated-cluster.ts';
import type { SimulatedJob } from './simulated-job.ts';
import { type NodeNature, soundNature } from './simulated-node.ts';

export async function createCluster(seed = 1, commitMs = 0): Promise<SimulatedCluster> {
  const files = new MemoryFiles();
  let spools = 0;
  const ledger = await openLedger(() => `histograms ${spools++}`, new MemoryStore(), 1, files.open);
  return new SimulatedCluster({ seed, commitMs, ledger });
}

/** A sound node, changed by what is given. */
export function nature(name: string, changes: Partial<NodeNature> = {}): NodeNature {
  return { ...soundNature, name, ...changes };
}

/** A job of 100 frames, a shard each of 100 bytes, changed by what is given. */
export function frames(changes: Partial<SimulatedJob> = {}): SimulatedJob {
  return {
    jobId: 'job',
    kind: 'frames',
    shards: 100,
    group: 1,
    costBytes: 100,
    priority: 0,
    verify: 0,
    poison: new Set(),
    killers: new Set(),
    ...changes,
  };
}
