import assert from 'node:assert/strict';
import { Cluster, ServingCluster } from './cluster.ts';
import { command } from './command.ts';

/** Devices with a cluster that test files share, and its number of nodes. */
export const sharedNodes = { cpu: 2, software: 1 } as const;

export type SharedDevice = keyof typeof sharedNodes;

/** The environment variable that describes the shared cluster of a device to test files, as JSON. */
export const settingOf = (device: SharedDevice): string => `HALOGRID_TEST_CLUSTER_${device.toUpperCase()}`;

/** The addresses of a shared cluster. */
export interface SharedCluster {
  address: string;
  http: string;
}

/**
 * The shared cluster of a device, for test files that only run jobs, because starting a cluster takes two seconds of
 * processor time. A file that runs alone gets its own cluster. Stop it in either case.
 */
export async function sharedCluster(device: SharedDevice = 'cpu'): Promise<ServingCluster> {
  const told = process.env[settingOf(device)];
  if (told === undefined) return Cluster.start({ nodes: sharedNodes[device], device });
  const { address, http }: SharedCluster = JSON.parse(told);
  return new ServingCluster(address, http);
}

/**
 * Runs a job undisturbed to its end on CPU nodes, for comparison with other runs: on the shared cluster, or, because a
 * cluster costs more than the job, on a node of its own.
 */
export async function runUndisturbed(job: readonly string[]): Promise<void> {
  if (process.env[settingOf('cpu')] === undefined) {
    const { code, stderr } = await command(['run', ...job, '--device', 'cpu']);
    assert.equal(code, 0, stderr);
    return;
  }
  const cluster = await sharedCluster();
  try {
    const { code, stderr } = await cluster.halogrid(['run', ...job]);
    assert.equal(code, 0, stderr);
  } finally {
    await cluster.stop();
  }
}
