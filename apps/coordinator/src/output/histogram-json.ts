import type { ResultDescription } from './describe-results.ts';

/** The merged result of a job: counts of each channel's bins, exact. */
export interface MergedHistogram {
  kernel: string;
  /** Pixels counted in each channel. */
  counted: bigint;
  channels: { name: string; bins: BigUint64Array }[];
  description: ResultDescription;
}

/**
 * The text of histogram.json: what it is of, then a line a channel. Integers above 2^53 are strings, because readers of JSON
 * round them.
 */
export function histogramJson({ kernel, counted, channels, description }: MergedHistogram): string {
  const { convention, ...about } = description;
  const fields = Object.entries(about).map(([name, value]) => `  "${name}": ${JSON.stringify(value)},\n`);
  const lines = channels.map(({ name, bins }) => {
    return `    {"name": ${JSON.stringify(name)}, "bins": [${Array.from(bins, exactInteger).join(',')}]}`;
  });
  return `{
  "kernel": ${JSON.stringify(kernel)},
  "convention": ${JSON.stringify(convention)},
  "counted": ${exactInteger(counted)},
${fields.join('')}  "channels": [
${lines.join(',\n')}
  ]
}
`;
}

function exactInteger(value: bigint): string {
  return value > 2n ** 53n ? `"${value}"` : value.toString();
}
