import { parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { HalogridError } from './errors.ts';
import type { ResultFiles } from './transport.ts';

/** The columns of a matrix's statistics, such as `contrast_1_45`: the statistic, the distance and the angle. */
export type StatisticColumn =
  `${'contrast' | 'dissimilarity' | 'homogeneity' | 'asm' | 'energy' | 'correlation' | 'entropy'}_${number}_${number}`;

/** A row of features.parquet: the histogram of one cell of one image or frame. Fields are named like its columns. */
export interface FeatureRow {
  /** URI. */
  source: string;
  /** The name of its output files, without extensions: preview/NAME.png. */
  name: string;
  /** Index of the frame in its source; 0 for an image. */
  frame: number;
  /** Milliseconds from the start of its source; null if it has no time. */
  timestamp_ms: number | null;
  /** When it was captured; null if unknown. */
  captured_at: Date | null;
  /** Null if unknown. */
  camera: string | null;
  cell_row: number;
  cell_col: number;
  /** Pixels that the histogram counts. */
  counted: number;
  /** Counts of the bins, channels one after another. */
  histogram: number[];
  /** For each matrix of `glcm`, its statistics; null for a matrix without pairs. */
  [statistic: StatisticColumn]: number | null;
}

/**
 * The rows of a features.parquet, which is a file or a folder of files, in order. Only one row group is in memory at a
 * time. Rejects with HalogridError if there is no such file.
 */
export async function* readRows(files: ResultFiles, pipeline?: string): AsyncGenerator<FeatureRow, void> {
  const path = pipeline === undefined ? 'features.parquet' : `pipelines/${pipeline}/features.parquet`;
  const all = await files.list();
  const found = all.filter(({ name }) => name === path || (name.startsWith(`${path}/`) && name.endsWith('.parquet')));
  if (found.length === 0) throw new HalogridError('NOT_FOUND', whyNone(path, all));
  for (const { name, bytes } of found.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const file = { byteLength: bytes, slice: (start: number, end = bytes) => files.slice(name, start, end) };
    const metadata = await parquetMetadataAsync(file);
    for (const group of metadata.row_groups) {
      const rows = await parquetReadObjects({ file, metadata: { ...metadata, row_groups: [group] } });
      for (const row of rows) {
        yield {
          ...row,
          counted: Number(row.counted),
          // The column has 64 bits if one of its counts needs them.
          histogram: typeof row.histogram[0] === 'bigint' ? row.histogram.map(Number) : row.histogram,
        } as FeatureRow;
      }
    }
  }
}

function whyNone(name: string, all: readonly { name: string }[]): string {
  const pipelines = all.flatMap((file) => /^pipelines\/([^/]*)\/features\.parquet(\/|$)/.exec(file.name)?.[1] ?? []);
  const remedy =
    pipelines.length > 0
      ? `choose one of its pipelines, ${[...new Set(pipelines)].sort().join(', ')}`
      : 'its kernel has no histogram';
  return `The job has no ${name}: ${remedy}`;
}
