import { type ManifestLine, manifestLines } from './manifest-lines.ts';
import { type ManifestRow, manifestRow, type RowValues } from './manifest-row.ts';

/** The most rows that are handed on at once. */
const rowsAtOnce = 256;

export type ManifestKind = 'text' | 'json' | 'parquet';

/** The kind of manifest that a file name tells; undefined: not a manifest. */
export function manifestKind(name: string): ManifestKind | undefined {
  if (/\.txt$/i.test(name)) return 'text';
  if (/\.(jsonl|ndjson)$/i.test(name)) return 'json';
  return /\.parquet$/i.test(name) ? 'parquet' : undefined;
}

/** The rows of a manifest of lines, some at a time, in memory that does not grow with it. Rejects as node:fs does. */
export async function* lineRows(
  chunks: AsyncIterable<Buffer>,
  kind: Exclude<ManifestKind, 'parquet'>,
): AsyncGenerator<ManifestRow[], void, undefined> {
  let rows: ManifestRow[] = [];
  for await (const line of manifestLines(chunks)) {
    rows.push(kind === 'json' && !line.error ? jsonRow(line) : line);
    if (rows.length < rowsAtOnce) continue;
    yield rows;
    rows = [];
  }
  if (rows.length > 0) yield rows;
}

function jsonRow({ text, number }: ManifestLine): ManifestRow {
  const where = `Line ${number} of the manifest`;
  try {
    const values: unknown = JSON.parse(text);
    if (values instanceof Object && !Array.isArray(values)) return manifestRow(values as RowValues, where);
  } catch {
    // Treated as JSON that is not an object.
  }
  return { text: text.slice(0, 100), error: `${where} is not a JSON object` };
}
