import { spreadOf } from '@halogrid/bench/statistics';
import { table } from '@halogrid/service/text-table';
import { describeComparison } from './compare-histograms.ts';
import type { RaceResult, Sample } from './race.ts';

/** Rates of a run with an amount of work. */
const rates = {
  whole: ({ wallSeconds }: Sample, amount: number) => amount / wallSeconds,
  inner: ({ innerSeconds }: Sample, amount: number) => amount / innerSeconds,
  cpu: ({ cpuSeconds }: Sample, amount: number) => amount / cpuSeconds,
} as const;

type Rate = (typeof rates)[keyof typeof rates];

/** A table of a race, a table of speed-ups over each peer, and a line for each comparison of results. */
export function describeRace({ input, entries, comparisons }: RaceResult): string {
  const cell = (samples: Sample[], rate: Rate): string => {
    const { median, min, max } = spreadOf(samples.map((sample) => rate(sample, input.amount)));
    return `${median.toFixed(1)} (${min.toFixed(1)} … ${max.toFixed(1)})`;
  };
  const rows = entries.map(({ contestant, samples }) => [
    contestant.name,
    contestant.definition,
    cell(samples, rates.whole),
    cell(samples, rates.inner),
    cell(samples, rates.cpu),
    spreadOf(samples.map(({ otherCores }) => otherCores)).median.toFixed(2),
  ]);
  const heads = ['whole command', 'without start-up', `${input.unit} a CPU second`, 'cores others took'];
  const ratios = speedUps({ input, entries }).map(({ ours, peer, whole, inner, cpu }) => [
    `${ours} / ${peer}`,
    ...[whole, inner, cpu].map(
      ({ median, min, max }) => `${median.toFixed(2)} (${min.toFixed(2)} … ${max.toFixed(2)})`,
    ),
  ]);
  return [
    table([[`${input.name}, ${input.unit}/s, median (min … max)`, 'LBP', ...heads], ...rows]),
    table([['times as fast', ...heads.slice(0, 3)], ...ratios]),
    comparisons.map((comparison) => `${describeComparison(comparison)}\n`).join(''),
  ].join('\n');
}

/** Speed-ups of halogrid over each peer, turn by turn: a disturbance of a turn disturbs both. */
export function speedUps({ input, entries }: Pick<RaceResult, 'input' | 'entries'>) {
  return entries
    .filter(({ contestant }) => contestant.isOurs)
    .flatMap((ours) =>
      entries
        .filter(({ contestant }) => !contestant.isOurs)
        .map((peer) => {
          const ratio = (rate: Rate) =>
            spreadOf(
              ours.samples.map((sample, turn) => rate(sample, input.amount) / rate(peer.samples[turn]!, input.amount)),
            );
          return {
            ours: ours.contestant.name,
            peer: peer.contestant.name,
            whole: ratio(rates.whole),
            inner: ratio(rates.inner),
            cpu: ratio(rates.cpu),
          };
        }),
    );
}
