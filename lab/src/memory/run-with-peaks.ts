import { setTimeout as delay } from 'node:timers/promises';
import { Halogrid } from '../../../test/halogrid.ts';
import { peakResidentBytes } from '../../../test/process-list.ts';

const maxLifeMs = 3_600_000;

/** Runs `halogrid` to its end. Resolves with the peak resident bytes by the role of the process; throws if it fails. */
export async function runWithPeaks(args: readonly string[]): Promise<Map<string, number>> {
  const run = new Halogrid(args, { maxLifeMs });
  const peaks = new Map<string, number>();
  let hasEnded = false;
  const ended = run.ended.finally(() => {
    hasEnded = true;
  });
  while (!hasEnded) {
    for (const { pid, role } of run.processes()) {
      peaks.set(role, Math.max(peaks.get(role) ?? 0, peakResidentBytes(pid) ?? 0));
    }
    await delay(200);
  }
  const { code, stderr } = await ended;
  if (code !== 0) throw new Error(`The run ended with ${code}: ${stderr}`);
  return peaks;
}
