import assert from 'node:assert/strict';
import { Cluster, ServingCluster } from './cluster.ts';

/** Devices of which test files share a cluster, and the nodes that it has. */
export const sharedNodes = { cpu: 2, software: 1 } as const;

export type SharedDevice = keyof typeof sharedNodes;

/** What the environment tells test files of the cluster of a device that they share, as JSON. */
export const settingOf = (device: SharedDevice): string => `HALOGRID_TEST_CLUSTER_${device.toUpperCase()}`;

/** Where it serves. */
export interface SharedCluster {
  address: string;
  http: string;
}

/**
 * The cluster of a device that test files share, for those that run jobs and harm nobody: starting one takes two
 * seconds of processor time. A file that runs alone has one of its own. To be stopped either way.
 */
export async function sharedCluster(device: SharedDevice = 'cpu'): Promise<ServingCluster> {
  const told = process.env[settingOf(device)];
  if (told === undefined) return Cluster.start({ nodes: sharedNodes[device], device });
  const { address, http }: SharedCluster = JSON.parse(told);
  return new ServingCluster(address, http);
}

/** Runs a job to its end where nobody disturbs it, on CPU nodes: what others are compared with. */
export async function runUndisturbed(job: readonly string[]): Promise<void> {
  const cluster = await sharedCluster();
  try {
    const { code, stderr } = await cluster.halogrid(['run', ...job]);
    assert.equal(code, 0, stderr);
  } finally {
    await cluster.stop();
  }
}
