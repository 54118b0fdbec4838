import { parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { HalogridError } from './errors.ts';
import type { ResultFiles } from './transport.ts';

/** A row of features.parquet: the histogram of one cell of one image or frame. Names are those of its columns. */
export interface FeatureRow {
  /** URI. */
  source: string;
  /** That of its files, without extensions: preview/NAME.png. */
  name: string;
  /** Index of the frame in its source; 0 for an image. */
  frame: number;
  /** From the start of its source; null for what has no time. */
  timestamp_ms: number | null;
  /** When it was captured; null where nobody knows. */
  captured_at: Date | null;
  /** Null where nobody knows. */
  camera: string | null;
  cell_row: number;
  cell_col: number;
  /** Pixels that the histogram counts. */
  counted: number;
  /** Counts of the bins, channels one after another. */
  histogram: number[];
}

/**
 * The rows of a features.parquet, which is a file or a folder of files, in their order; a row group is held at a time.
 * Rejects with HalogridError where there is none.
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
          // Of 64 bits where one of its counts needs that.
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
