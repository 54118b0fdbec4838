import { describeEnding, startChild } from '../cluster/child.ts';
import type { DeviceChoice } from '../options/option-values.ts';
import type { Probe } from './probe.ts';

/** A driver that hangs gets this long. The slowest honest start, unpacking the software device, takes a few seconds. */
const probeWithinMs = 60_000;

/** Tries a device in a process of its own: a broken driver takes the whole process along. */
export async function probeInChild(choice: DeviceChoice): Promise<Probe> {
  const child = startChild(['doctor', '--probe', choice]);
  let isLate = false;
  const patience = setTimeout(() => {
    isLate = true;
    void child.stop();
  }, probeWithinMs);
  const probe = (await child.ready) as Probe | undefined;
  clearTimeout(patience);
  await child.stop();
  if (probe) return probe;
  if (isLate) return { works: false, reason: `it did not answer within ${probeWithinMs / 1000} s` };
  const lastWords = child.logTail().at(-1);
  return {
    works: false,
    reason: `its process ${describeEnding(await child.ended)}${lastWords ? `: ${lastWords}` : ''}`,
  };
}
