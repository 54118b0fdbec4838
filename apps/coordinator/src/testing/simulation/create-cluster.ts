// Shared by tests of simulated clusters.
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after } from 'node:test';
import { memoryFolder } from '@halogrid/testing';
import { type NodeNature, soundNature } from './node-nature.ts';
import { SimulatedCluster } from './simulated-cluster.ts';
import type { Blindness } from './simulated-files.ts';
import type { SimulatedJob } from './simulated-job.ts';

const folder = await mkdtemp(join(memoryFolder, 'halogrid-simulation-'));
after(() => rm(folder, { recursive: true, force: true }));

export async function createCluster(seed = 1, commitMs = 0): Promise<SimulatedCluster> {
  return SimulatedCluster.create({ seed, commitMs, folder: await mkdtemp(join(folder, 'cluster-')) });
}

/** A sound node, with the given changes. */
export function nature(name: string, changes: Partial<NodeNature> = {}): NodeNature {
  return { ...soundNature, name, ...changes };
}

/** A blindness from the start to the end, with the given changes. */
export function blindTo(below: string, changes: Partial<Blindness> = {}): Blindness {
  return { below, fromMs: 0, untilMs: Number.POSITIVE_INFINITY, finds: 'nothing', ...changes };
}

/** A job of 100 frames, each with a shard of 100 bytes, with the given changes. */
export function frames(changes: Partial<SimulatedJob> = {}): SimulatedJob {
  return {
    jobId: 'job',
    kind: 'frames',
    shards: 100,
    group: 1,
    costBytes: 100,
    roots: 1,
    pipelines: 1,
    waitsForNode: false,
    priority: 0,
    verifyPercent: 0,
    kept: new Set(),
    poison: new Set(),
    killers: new Set(),
    changed: new Set(),
    ...changes,
  };
}
