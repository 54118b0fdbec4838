import type { CudaQuery } from '../reports/report.ts';

/** A line of a CUDA program: what was timed and, in milliseconds, what it took. */
export interface CudaRow {
  /** The strategy. */
  name: string;
  block: string | null;
  ms: { mean: number; median: number; stdev: number; min: number };
  repetitions: number;
  /** What else tells rows apart, and rates. */
  [field: string]: unknown;
}

/** Reads what a program prints: a JSON object a line. Throws Error for anything else. */
export function parseCudaRows(output: string): CudaRow[] {
  return output
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      try {
        const row = JSON.parse(line) as CudaRow;
        if (typeof row.name === 'string' && Number.isFinite(row.ms?.mean)) return row;
      } catch {
        // Said below.
      }
      throw new Error(`Expected a row of a CUDA program but received '${line.slice(0, 80)}'`);
    });
}

/** Of the rows that `query` describes, the one with the least mean. */
export function fastestRow(rows: readonly CudaRow[], query: CudaQuery): CudaRow | undefined {
  const fits = (row: CudaRow) =>
    Object.entries(query).every(([key, wanted]) => [wanted].flat().some((value) => value === row[key]));
  return rows.filter(fits).sort((a, b) => a.ms.mean - b.ms.mean)[0];
}
