import { setTimeout as delay } from 'node:timers/promises';

/** A computing thread has this share of a core on an idle machine. */
const idleShare = 0.8;

const probeMs = 150;
const pauseMs = 500;

/**
 * Resolves when this thread has a core for itself, or after `seconds` seconds: other work of the machine changes every
 * figure.
 */
export async function untilIdle(seconds: number): Promise<void> {
  const deadline = performance.now() + 1000 * seconds;
  while (shareOfCore() < idleShare && performance.now() < deadline) await delay(pauseMs);
}

function shareOfCore(): number {
  const [begin, used] = [performance.now(), process.cpuUsage()];
  while (performance.now() - begin < probeMs);
  const { user, system } = process.cpuUsage(used);
  return (user + system) / 1000 / (performance.now() - begin);
}
