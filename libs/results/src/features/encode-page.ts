import type { SchemaElement } from 'hyparquet';
import type { ColumnPage, MakePage } from './column-page.ts';
import type { HistogramList } from './histogram-list.ts';
import { encodeCounts, encodeOptional } from './number-columns.ts';
import type { PagePlace } from './page-layout.ts';
import type { TextList } from './text-list.ts';

/**
 * Rows of features.parquet: the same cells of some sources, in order of the sources. `counted` and `histograms` have a
 * value per row: the cells of the first source, then the cells of the next. Other columns have a value per source.
 */
export interface PageRows {
  /** URIs of the sources. */
  source: TextList;
  /** Names of the sources' files, without extensions. */
  name: TextList;
  /** Null if the camera is not known. */
  camera: TextList;
  frame: Float64Array;
  /** NaN without a time. */
  timestampMs: Float64Array;
  /** Milliseconds since 1970 in UTC; NaN if the time is not known. */
  capturedAtMs: Float64Array;
  counted: Float64Array;
  histograms: HistogramList;
  /** Further columns of numbers, a value per row; NaN becomes null. */
  statistics: readonly Float64Array[];
  /** The number of the first cell in the grid, and how many cells a row of the grid has. */
  firstCell: number;
  gridColumns: number;
}

/** A page that does not depend on its place in a file: a page of each column, in the order of `featureSchema`. */
export interface EncodedPage {
  rows: number;
  columns: ColumnPage[];
  /** Whether `histogram` must be int64 in its file. */
  isWide: boolean;
}

/** A page with the place where it begins. */
export interface PlacedPage extends EncodedPage, PagePlace {}

/**
 * Encodes rows as pages of their columns. Equal rows give equal bytes. Callers check that numbers fit their columns.
 */
export function encodePage(page: PageRows, makePage: MakePage): EncodedPage {
  const { source, name, camera, frame, timestampMs, capturedAtMs, counted, firstCell, gridColumns } = page;
  const rows = counted.length;
  const cells = rows / source.length;
  const ofCells = (value: (cell: number) => number): Float64Array => {
    const column = new Float64Array(rows);
    for (let cell = 0; cell < cells; cell++) column[cell] = value(firstCell + cell);
    for (let row = cells; row < rows; row++) column[row] = column[row - cells]!;
    return column;
  };
  const histograms = page.histograms.encode();
  const encoded = [
    source.encode(false, cells),
    name.encode(false, cells),
    encodeCounts('INT32', repeated(frame, cells)),
    encodeOptional('DOUBLE', repeated(timestampMs, cells)),
    encodeOptional('INT64', repeated(capturedAtMs, cells)),
    camera.encode(true, cells),
    encodeCounts(
      'INT32',
      ofCells((cell) => Math.floor(cell / gridColumns)),
    ),
    encodeCounts(
      'INT32',
      ofCells((cell) => cell % gridColumns),
    ),
    encodeCounts('INT64', counted),
    histograms,
    ...page.statistics.map((column) => encodeOptional('DOUBLE', column)),
  ];
  return { rows, columns: encoded.map((column) => makePage(rows, column)), isWide: histograms.isWide };
}

/** Each value, repeated `times` times. */
function repeated(values: Float64Array, times: number): Float64Array {
  if (times === 1) return values;
  const column = new Float64Array(values.length * times);
  for (let i = 0; i < values.length; i++) column.fill(values[i]!, i * times, (i + 1) * times);
  return column;
}

/**
 * The schema of features.parquet. Its columns have the order and the types of `encodePage`; `statistics` are the names
 * of further columns.
 */
export const featureSchema = (isWide: boolean, statistics: readonly string[] = []): SchemaElement[] => [
  { name: 'schema', num_children: 10 + statistics.length },
  { name: 'source', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'REQUIRED' },
  { name: 'name', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'REQUIRED' },
  { name: 'frame', type: 'INT32', repetition_type: 'REQUIRED' },
  { name: 'timestamp_ms', type: 'DOUBLE', repetition_type: 'OPTIONAL' },
  {
    name: 'captured_at',
    type: 'INT64',
    // Readers that are older than logical types know only this one.
    converted_type: 'TIMESTAMP_MILLIS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
    repetition_type: 'OPTIONAL',
  },
  { name: 'camera', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'OPTIONAL' },
  { name: 'cell_row', type: 'INT32', repetition_type: 'REQUIRED' },
  { name: 'cell_col', type: 'INT32', repetition_type: 'REQUIRED' },
  { name: 'counted', type: 'INT64', repetition_type: 'REQUIRED' },
  { name: 'histogram', converted_type: 'LIST', repetition_type: 'REQUIRED', num_children: 1 },
  { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
  { name: 'element', type: isWide ? 'INT64' : 'INT32', repetition_type: 'REQUIRED' },
  ...statistics.map((name): SchemaElement => ({ name, type: 'DOUBLE', repetition_type: 'OPTIONAL' })),
];
