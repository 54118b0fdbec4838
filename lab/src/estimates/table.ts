/** The promise of a plan. */
export interface Promised {
  seconds: number;
  lowSeconds: number;
  highSeconds: number;
}

/** A job, the promises of its plans, and the times of its runs. */
export interface Row {
  name: string;
  shards: number;
  /** Seconds of the runs, in their order. */
  runSeconds: number[];
  /** The promise before any run. */
  before: Promised;
  /** The promise when only the first of the runs is remembered. */
  after: Promised;
  /** The promise when one run of each other job is remembered, and none of this job. */
  others?: Promised;
}

/** The middle value, or the mean of the two in the middle. */
export function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle) - 1]!) / 2;
}

/** How far a promise is off: the larger of promise and run over the smaller, at least 1. */
export const offBy = (promised: Promised, seconds: number): number =>
  Math.max(promised.seconds / seconds, seconds / promised.seconds);

const columns = [
  'job',
  'shards',
  'run, s',
  'before, s',
  'off',
  'after one run, s',
  'off',
  'after the others, s',
  'off',
];

/** The table of the rows, as Markdown. */
export function describeRows(rows: readonly Row[]): string {
  const cells = rows.map(({ name, shards, runSeconds, before, after, others }) => {
    const median = medianOf(runSeconds);
    const promised = [before, after, others].flatMap((promise) =>
      promise ? [promise.seconds.toPrecision(2), offBy(promise, median).toFixed(1)] : ['', ''],
    );
    return [name, String(shards), median.toPrecision(3), ...promised];
  });
  return [columns, columns.map(() => '---'), ...cells].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

/** The largest and the median factor of each kind of promise, and how often the range held the run. */
export function describeFit(rows: readonly Row[]): string {
  const lines = (['before', 'after', 'others'] as const).map((kind) => {
    const known = rows.flatMap((row) =>
      row[kind] ? [{ promised: row[kind], seconds: medianOf(row.runSeconds) }] : [],
    );
    if (known.length === 0) return '';
    const off = known.map(({ promised, seconds }) => offBy(promised, seconds));
    const held = known.filter(
      ({ promised: { lowSeconds, highSeconds }, seconds }) => lowSeconds <= seconds && seconds <= highSeconds,
    );
    const worst = `at most ${Math.max(...off).toFixed(1)}, median ${medianOf(off).toFixed(2)}`;
    return `${kind}: off by ${worst}; within the range ${held.length} of ${known.length}`;
  });
  return lines.filter(Boolean).join('\n');
}
