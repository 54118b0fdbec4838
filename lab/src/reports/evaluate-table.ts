import { spreadOf } from '@halogrid/bench/statistics';
import { type CudaRow, fastestRow } from '../cuda/cuda-programs.ts';
import { probeKey, type ReportRow, type ReportTable } from './report.ts';

/** Milliseconds of the samples of each probe, by its key. Probes that were too slow are missing. */
export type ProbeTimes = ReadonlyMap<string, readonly number[]>;

export type Value = string | number | undefined;

export interface EvaluatedColumn {
  /** Its name in the CSV. */
  name: string;
  /** Heading in up to three lines. */
  title: string;
  /** Whether the table shows it; the CSV has all columns. */
  isPrinted: boolean;
}

/** A table with its numbers. */
export interface EvaluatedTable {
  columns: EvaluatedColumn[];
  rows: { labels: ReportRow['labels']; values: Record<string, Value> }[];
}

/** Headings of times. */
const words: Record<string, string> = {
  whole: 'whole run',
  cpu: 'cpu\n1 thread',
  threads: 'cpu\nall threads',
  twin: 'twin\n1 thread',
};

/** Fills a table with measurements. `cuda` is undefined if the CUDA programs did not run. */
export function evaluateTable(table: ReportTable, samples: ProbeTimes, cuda?: readonly CudaRow[]): EvaluatedTable {
  const names = union(table.rows.map(({ times }) => Object.keys(times)));
  const hasCuda = cuda !== undefined && table.rows.some((row) => row.cuda ?? row.otherCuda);
  // Without CUDA, rows about CUDA programs are left out, unless they have figures of the report.
  const rows = hasCuda ? table.rows : table.rows.filter((row) => row.times[names[0]!] || row.reported);
  const values = rows.map((row) => valuesOf(row, table, names, samples, hasCuda ? cuda : []));
  const columns = columnsOf(table, names, hasCuda).map((column) => ({
    ...column,
    isPrinted: column.isPrinted && (!column.isDerived || values.some((value) => value[column.name] !== undefined)),
  }));
  return { columns, rows: rows.map(({ labels }, i) => ({ labels, values: values[i]! })) };
}

interface Column extends EvaluatedColumn {
  isDerived?: boolean;
}

function columnsOf(
  { rows, derived, cudaFields = [] }: ReportTable,
  names: readonly string[],
  hasCuda: boolean,
): Column[] {
  const labels = union(rows.map((row) => Object.keys(row.labels)));
  const others = union(rows.map((row) => Object.keys(row.otherCuda ?? {})));
  const figures = new Map(rows.flatMap(({ reported = {} }) => figuresOf(reported)).map((one) => [one.name, one.title]));
  return [
    ...labels.map((name) => ({ name, title: name, isPrinted: true })),
    ...names.flatMap((name, i) => timeColumns(name, words[name] ?? name, i === 0)),
    ...derived.map(({ name, title }) => ({ name, title, isPrinted: true, isDerived: true })),
    ...(hasCuda ? [...timeColumns('cuda', 'CUDA here', true), ...cudaColumns(names[0]!)] : []),
    ...(hasCuda ? others.flatMap((name) => timeColumns(`cuda_${name}`, `CUDA here\n${name}`, false)) : []),
    ...(hasCuda ? cudaFields : []).map((name) => ({
      name: `cuda_${name}`,
      title: `CUDA here\n${name}`,
      isPrinted: true,
    })),
    ...[...figures].map(([name, title]) => ({ name, title, isPrinted: true })),
  ];
}

function timeColumns(name: string, title: string, isMain: boolean): Column[] {
  const column = (what: string, isPrinted: boolean) => ({
    name: `${name}_${what.replace(' ', '_')}`,
    title: `${title}\n${what}`,
    isPrinted,
  });
  return [
    column('mean ms', isMain),
    column('median ms', true),
    column('stdev ms', isMain),
    column('min ms', false),
    column('max ms', false),
    column('samples', false),
  ];
}

const cudaColumns = (main: string): Column[] => [
  { name: 'cuda_kernel', title: 'CUDA here\nkernel', isPrinted: true },
  { name: `cuda_over_${main}`, title: `CUDA here\nover ${main}`, isPrinted: true, isDerived: true },
];

function valuesOf(
  row: ReportRow,
  { derived, cudaFields = [] }: ReportTable,
  names: readonly string[],
  samples: ProbeTimes,
  cuda: readonly CudaRow[],
): Record<string, Value> {
  const values: Record<string, Value> = { ...row.labels };
  for (const name of names) {
    const probe = row.times[name];
    const measured = probe && samples.get(probeKey(probe));
    if (!measured) continue;
    for (const [what, ms] of Object.entries(spreadOf(measured))) values[`${name}_${what}_ms`] = ms;
    values[`${name}_samples`] = measured.length;
  }
  const fastest = row.cuda && fastestRow(cuda, row.cuda);
  if (fastest) {
    putTimes('cuda', fastest);
    values.cuda_kernel = [fastest.name, fastest.block].filter(Boolean).join(' ');
    for (const field of cudaFields) values[`cuda_${field}`] = fastest[field] as Value;
  }
  for (const [name, query] of Object.entries(row.otherCuda ?? {})) {
    const other = fastestRow(cuda, query);
    if (other) putTimes(`cuda_${name}`, other);
  }
  const medianMs = (name: string) => values[`${name}_median_ms`] as number | undefined;
  const [theirMs, ourMs] = [medianMs('cuda'), medianMs(names[0]!)];
  if (theirMs !== undefined && ourMs !== undefined) values[`cuda_over_${names[0]}`] = theirMs / ourMs;
  for (const { name, of } of derived) values[name] = of(medianMs, row);
  for (const { name, value } of figuresOf(row.reported ?? {})) values[name] = value;
  return values;

  function putTimes(name: string, { ms, repetitions }: CudaRow): void {
    for (const what of ['mean', 'median', 'stdev', 'min'] as const) values[`${name}_${what}_ms`] = ms[what];
    values[`${name}_samples`] = repetitions;
  }
}

function figuresOf(reported: NonNullable<ReportRow['reported']>): { name: string; title: string; value: number }[] {
  return Object.entries(reported).flatMap(([hardware, figures]) =>
    Object.entries(figures).map(([column, value]) => ({
      name: reportColumn(hardware, column),
      title: `report\n(${hardware})\n${column}`,
      value,
    })),
  );
}

/** Columns of the report's own figures begin with this. */
export const reportedPrefix = 'report_';

/** The name of a column of a report's own figures in the CSV. */
export function reportColumn(hardware: string, column: string): string {
  return `${reportedPrefix}${hardware}_${column}`.toLowerCase().replace(/[^a-z0-9]+/g, '_');
}

const union = (lists: readonly string[][]): string[] => [...new Set(lists.flat())];
