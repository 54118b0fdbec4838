import { setTimeout as delay } from 'node:timers/promises';
import { Halogrid } from '../../../test/halogrid.ts';
import { cpuSeconds, peakResidentBytes } from '../../../test/process-list.ts';

const maxLifeMs = 3_600_000;

/** What a process took. */
export interface Peaks {
  residentBytes: number;
  cpuSeconds: number;
}

/** Runs `halogrid` to its end. Resolves with the peaks by the role of the process; throws if it fails. */
export async function runWithPeaks(args: readonly string[]): Promise<Map<string, Peaks>> {
  const run = new Halogrid(args, { maxLifeMs });
  const peaks = new Map<string, Peaks>();
  let hasEnded = false;
  const ended = run.ended.finally(() => {
    hasEnded = true;
  });
  while (!hasEnded) {
    for (const { pid, role } of run.processes()) {
      const before = peaks.get(role);
      peaks.set(role, {
        residentBytes: Math.max(before?.residentBytes ?? 0, peakResidentBytes(pid) ?? 0),
        cpuSeconds: Math.max(before?.cpuSeconds ?? 0, cpuSeconds(pid) ?? 0),
      });
    }
    await delay(200);
  }
  const { code, stderr } = await ended;
  if (code !== 0) throw new Error(`The run ended with ${code}: ${stderr}`);
  return peaks;
}
