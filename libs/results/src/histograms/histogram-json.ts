import type { Binning, Pairs } from '@halogrid/kernels';
import type { ResultDescription } from './describe-results.ts';
import { statisticsOf } from './histogram-statistics.ts';
import { matrixStatistics } from './matrix-statistics.ts';

/** The merged result of a job: counts of each channel's bins, exact. */
export interface MergedHistogram {
  kernel: string;
  /** Pixels counted in each channel, of several bands in the first one; of matrices, the sum of the first one. */
  counted: bigint;
  channels: { name: string; bins: BigUint64Array }[];
  description: ResultDescription;
  /** Which values the bins count; undefined if bin b counts the value b. */
  binning?: Binning | undefined;
  /** Set if each channel is a co-occurrence matrix. */
  pairs?: Pairs | undefined;
}

/**
 * The text of histogram.json: the description, then a line per channel. Integers above 2^53 are strings, because
 * readers of JSON round them.
 */
export function histogramJson({ kernel, counted, channels, description, binning, pairs }: MergedHistogram): string {
  const { convention, ...about } = description;
  const fields = Object.entries(about).map(([name, value]) => `  "${name}": ${JSON.stringify(value)},\n`);
  const lines = channels.map(({ name, bins }) => {
    const statistics = pairs
      ? matrixStatistics(Float64Array.from(bins, Number), pairs.levels)
      : binning && statisticsOf(bins, binning);
    const said = statistics ? `, "statistics": ${statisticsJson({ ...statistics })}` : '';
    return `    {"name": ${JSON.stringify(name)}, "bins": [${Array.from(bins, exactInteger).join(',')}]${said}}`;
  });
  return `{
  "kernel": ${JSON.stringify(kernel)},
  "convention": ${JSON.stringify(convention)},
  "counted": ${exactInteger(counted)},
${fields.join('')}${binning ? binningJson(binning, channels[0]!.bins.length) : ''}  "channels": [
${lines.join(',\n')}
  ]
}
`;
}

/** Lines that say which values the bins count. The end of `range` does not belong to it. */
function binningJson({ first, width, isExact, isOneValue, deepScale }: Binning, bins: number): string {
  const notes = [
    !isExact &&
      'Near: devices round float32 in their own ways, so that a value near the end of a bin may be counted in the next one; the digest leaves bins out.',
    !isOneValue && 'Statistics count each value as the middle of its bin; min and max are ends of bins.',
    deepScale > 1 && `Values of images of 16 bits are counted divided by ${deepScale}.`,
  ].filter(Boolean);
  return `  "range": [${first * width}, ${(first + bins) * width}],
  "width": ${width},
  "exact": ${isExact},
${notes.length > 0 ? `  "note": ${JSON.stringify(notes.join(' '))},\n` : ''}`;
}

function statisticsJson(statistics: Record<string, number | bigint>): string {
  const pairs = Object.entries(statistics).map(([name, value]) => {
    return `"${name}": ${typeof value === 'bigint' ? exactInteger(value) : value}`;
  });
  return `{${pairs.join(', ')}}`;
}

function exactInteger(value: bigint): string {
  return value > 2n ** 53n || value < -(2n ** 53n) ? `"${value}"` : value.toString();
}
