import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import type { FeatureCell, FeatureSource } from '../features/feature-writer.ts';

/** A source with its cells, as it was given to a writer. */
export interface WrittenSource {
  facts: FeatureSource;
  cells: FeatureCell[];
}

/** A row as another reader finds it. */
export interface FoundRow {
  source: string;
  name: string;
  frame: number;
  timestampMs: number | null;
  capturedAtMs: number | null;
  camera: string | null;
  cellRow: number;
  cellColumn: number;
  counted: number;
  histogram: number[];
}

/** The rows that sources must have, in a grid with `gridColumns` columns. */
export function rowsOf(sources: readonly WrittenSource[], gridColumns: number): FoundRow[] {
  return sources.flatMap(({ facts: { number: _, ...facts }, cells }) =>
    cells.map(({ counted, histogram }, cell) => {
      const place = { cellRow: Math.floor(cell / gridColumns), cellColumn: cell % gridColumns };
      return { ...facts, ...place, counted, histogram: Array.from(histogram) };
    }),
  );
}

/** The files of a features.parquet, in order. */
export async function featureFiles(path: string): Promise<string[]> {
  if (!(await stat(path)).isDirectory()) return [path];
  return (await readdir(path)).sort().map((name) => join(path, name));
}

/** All rows of a features.parquet, as hyparquet finds them. */
export async function readRows(path: string): Promise<FoundRow[]> {
  const files = await Promise.all((await featureFiles(path)).map((file) => asyncBufferFromFile(file)));
  const rows = (await Promise.all(files.map((file) => parquetReadObjects({ file })))).flat();
  return rows.map((row) => ({
    source: row.source,
    name: row.name,
    frame: row.frame,
    timestampMs: row.timestamp_ms,
    capturedAtMs: row.captured_at?.getTime() ?? null,
    camera: row.camera,
    cellRow: row.cell_row,
    cellColumn: row.cell_col,
    counted: Number(row.counted),
    histogram: Array.from(row.histogram, Number),
  }));
}
