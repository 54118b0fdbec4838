import { setTimeout as delay } from 'node:timers/promises';
import type { SeededRandom } from '../../apps/coordinator/src/testing/simulation/seeded-random.ts';
import { nodeNames, nodeTimeoutMs, type SoakCluster } from './soak-cluster.ts';

/** A fault of a cluster, with its time. Both depend only on the random numbers. */
export interface Fault {
  atMs: number;
  kind: 'kill a node' | 'stop a node' | 'kill the leader' | 'stop the leader';
  /** The name of the affected node. */
  name: string;
  /** Milliseconds until a stopped process goes on, or a killed one is started again. */
  forMs: number;
}

/**
 * The faults of one round. At most two nodes are lost, because a shard that was on three lost nodes is rightly given
 * up.
 */
export function planFaults(random: SeededRandom, withCoordinators: boolean): Fault[] {
  const within = 5_000;
  const faults: Fault[] = [];
  for (let i = random.whole(0, 2); i > 0; i--) {
    const kind = random.pick(['kill a node', 'stop a node'] as const);
    // About half of the stops last longer than the deadline.
    const forMs = kind === 'stop a node' ? random.between(200, 2 * nodeTimeoutMs) : random.between(0, 2_000);
    faults.push({ atMs: random.between(0, within), kind, name: random.pick(nodeNames), forMs });
  }
  if (withCoordinators) {
    const kind = random.pick(['kill the leader', 'stop the leader'] as const);
    faults.push({ atMs: random.between(0, within), kind, name: '', forMs: random.between(0, 6_000) });
  }
  return faults.sort((a, b) => a.atMs - b.atMs);
}

export const describeFault = ({ kind, name, atMs, forMs }: Fault): string =>
  `${kind}${name && ` ${name}`} at ${(atMs / 1000).toFixed(1)} s for ${(forMs / 1000).toFixed(1)} s`;

/** Causes all faults, each at its time, and undoes them. Faults of the same node follow each other. */
export async function disturb(cluster: SoakCluster, faults: readonly Fault[]): Promise<void> {
  const startMs = performance.now();
  const busy = new Map<string, Promise<void>>();
  for (const fault of faults) {
    await delay(Math.max(0, fault.atMs - (performance.now() - startMs)));
    const key = fault.name || 'leader';
    busy.set(
      key,
      (busy.get(key) ?? Promise.resolve()).then(() => act(cluster, fault)),
    );
  }
  await Promise.all(busy.values());
}

async function act(cluster: SoakCluster, { kind, name, forMs }: Fault): Promise<void> {
  if (kind === 'kill a node') {
    await cluster.killNode(name);
    await delay(forMs);
    await cluster.startNode(name);
    return;
  }
  if (kind === 'stop a node') {
    const { pid } = cluster.nodes.get(name)!;
    process.kill(pid, 'SIGSTOP');
    await delay(forMs);
    process.kill(pid, 'SIGCONT');
    return;
  }
  const leader = await cluster.leader();
  if (!leader) return;
  if (kind === 'kill the leader') await leader.killed();
  else leader.signal('SIGSTOP');
  await delay(forMs);
  if (kind === 'kill the leader') await leader.ensure();
  else leader.signal('SIGCONT');
}
