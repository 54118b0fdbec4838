import { pause } from '@halogrid/testing';
import type { SeededRandom } from '../../apps/coordinator/src/testing/simulation/seeded-random.ts';
import type { Service } from './machines.ts';

/** A fault of a machine, with its time. Both depend only on the random numbers. */
export interface MachineFault {
  atMs: number;
  kind: 'kill' | 'stop' | 'cut';
  name: string;
  /** Milliseconds until it is undone. */
  forMs: number;
}

/** Aborted when the faults have lasted that long. */
export const endAfter = (minutes: number): AbortSignal => AbortSignal.timeout(minutes * 60_000);

/**
 * The faults of one round. At most two nodes are lost, because a shard that was on three lost nodes is rightly given
 * up.
 */
export function planMachineFaults(random: SeededRandom, names: readonly string[]): MachineFault[] {
  const isNode = (name: string): boolean => /^(node|recorder)-/.test(name);
  const [nodes, others] = [names.filter(isNode), names.filter((name) => !isNode(name))];
  const chosen = [
    ...Array.from({ length: random.whole(0, 2) }, () => random.pick(nodes)),
    ...Array.from({ length: random.whole(1, 3) }, () => random.pick(others)),
  ];
  return chosen
    .map((name) => ({
      atMs: random.between(0, 5_000),
      kind: random.pick(['kill', 'stop', 'cut'] as const),
      name,
      forMs: random.between(0, 8_000),
    }))
    .sort((a, b) => a.atMs - b.atMs);
}

export const describeMachineFault = ({ kind, name, atMs, forMs }: MachineFault): string =>
  `${kind} ${name} at ${(atMs / 1000).toFixed(1)} s for ${(forMs / 1000).toFixed(1)} s`;

/** Causes all faults, each at its time, and undoes them. Faults of the same machine follow each other. */
export async function disturbMachines(
  services: ReadonlyMap<string, Service>,
  faults: readonly MachineFault[],
): Promise<void> {
  const startMs = performance.now();
  const busy = new Map<string, Promise<void>>();
  for (const fault of faults) {
    await pause(Math.max(0, fault.atMs - (performance.now() - startMs)));
    const before = busy.get(fault.name) ?? Promise.resolve();
    busy.set(
      fault.name,
      before.then(() => act(services.get(fault.name)!, fault)),
    );
  }
  await Promise.all(busy.values());
}

async function act(service: Service, { kind, forMs }: MachineFault): Promise<void> {
  if (kind === 'kill') {
    await service.kill();
    await pause(forMs);
    await service.start();
  } else if (kind === 'stop') {
    service.signal('SIGSTOP');
    await pause(forMs);
    service.signal('SIGCONT');
  } else {
    service.machine.cut();
    await pause(forMs);
    service.machine.mend();
  }
}
