import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Comparison, compareHistograms } from './compare-histograms.ts';
import type { Contestant, Outcome } from './contestant.ts';
import { type Input, warmPageCache } from './inputs.ts';
import { runTimed } from './timed-command.ts';

/** Programs that do the same work, in turns. */
export interface Race {
  input: Input;
  /** A small input of the same kind, for everything that is slow only the first time. */
  warmUp: Input;
  contestants: Contestant[];
}

/** One run of one contestant. */
export interface Sample {
  wallSeconds: number;
  innerSeconds: number;
  cpuSeconds: number;
  otherCores: number;
}

export interface RaceResult {
  input: Input;
  entries: { contestant: Contestant; samples: Sample[] }[];
  comparisons: Comparison[];
}

/**
 * Runs every contestant once on the small input and then `repetitions` times on the input, in turns. In the first turn,
 * histograms are compared with the first entry of halogrid that has the same definition. In later turns each contestant
 * is compared with its own first turn.
 */
export async function race(
  { input, warmUp, contestants }: Race,
  repetitions: number,
  folder: string,
  note: (line: string) => void,
): Promise<RaceResult> {
  await warmPageCache(input);
  for (const contestant of contestants) await runOnce(contestant, warmUp, folder);
  const entries = contestants.map((contestant) => ({
    contestant,
    samples: [] as Sample[],
    first: null as Outcome | null,
  }));
  for (let turn = 1; turn <= repetitions; turn++) {
    for (const entry of entries) {
      const { contestant } = entry;
      const { sample, outcome } = await runOnce(contestant, input, folder);
      note(`${input.name}, turn ${turn} of ${repetitions}, ${contestant.name}: ${sample.wallSeconds.toFixed(2)} s`);
      entry.samples.push(sample);
      entry.first ??= outcome;
      const itself = compareHistograms(contestant.definition, [contestant.name, 'itself'], [entry.first, outcome]);
      if (itself.unequal > 0)
        throw new Error(`${contestant.name} has other histograms in turn ${turn} than in the first`);
    }
  }
  const comparisons = entries.flatMap(({ contestant, first }) => {
    const { definition } = contestant;
    const reference = entries.find((entry) => entry.contestant.isOurs && entry.contestant.definition === definition);
    if (!reference || reference.contestant === contestant) return [];
    return [compareHistograms(definition, [reference.contestant.name, contestant.name], [reference.first!, first!])];
  });
  return { input, entries, comparisons };
}

async function runOnce(
  contestant: Contestant,
  input: Input,
  folder: string,
): Promise<{ sample: Sample; outcome: Outcome }> {
  const result = join(folder, 'result');
  const before = contestant.servingCpuSeconds?.() ?? 0;
  const { stdout, ...times } = await runTimed(contestant.command(input.path, result));
  const serving = (contestant.servingCpuSeconds?.() ?? 0) - before;
  const outcome = await contestant.read(result, stdout);
  await rm(result, { recursive: true });
  const cpuSeconds = times.cpuSeconds + serving;
  const otherCores = Math.max(0, times.otherCores - serving / times.wallSeconds);
  return { sample: { ...times, cpuSeconds, otherCores, innerSeconds: outcome.innerSeconds }, outcome };
}
