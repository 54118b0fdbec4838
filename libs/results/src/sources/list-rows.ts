import { parquetMetadataAsync, parquetReadObjects, type RowGroup } from 'hyparquet';
import { asyncBufferAt } from '../features/async-buffer.ts';
import type { SourceBlocks } from './source-blocks.ts';
import { headKey, type SourceLine } from './source-line.ts';

/** The head of a list of rows, as JSON; empty if it has none. */
export async function headOfRows(path: string): Promise<string> {
  const { key_value_metadata = [] } = await parquetMetadataAsync(await asyncBufferAt(path));
  return key_value_metadata.find(({ key }) => key === headKey)?.value ?? '';
}

/** Opens a list that is a Parquet file with a row per source. Each row group is a block. */
export async function rowsOf(path: string): Promise<SourceBlocks> {
  const file = await asyncBufferAt(path);
  const metadata = await parquetMetadataAsync(file);
  const starts = [0];
  const quarantinedBefore = [0];
  for (const group of metadata.row_groups) {
    starts.push(starts.at(-1)! + Number(group.num_rows));
    const { null_count = 0 } = statisticsOf(group, 'name');
    quarantinedBefore.push(quarantinedBefore.at(-1)! + Number(null_count));
  }
  return {
    starts,
    quarantinedBefore,
    async read(block, uri) {
      const group = metadata.row_groups[block]!;
      if (uri !== undefined && !mayHave(group, uri)) return undefined;
      const rows = await parquetReadObjects({ file, metadata: { ...metadata, row_groups: [group] } });
      return (nth) => lineOf(rows[nth]!);
    },
  };
}

const statisticsOf = ({ columns }: RowGroup, name: string) =>
  columns.find(({ meta_data }) => meta_data?.path_in_schema[0] === name)?.meta_data?.statistics ?? {};

/** Whether a row group may have a URI, by the least and the largest URI in the footer. */
function mayHave(group: RowGroup, uri: string): boolean {
  const { min_value, max_value } = statisticsOf(group, 'uri');
  if (typeof min_value !== 'string' || typeof max_value !== 'string') return true;
  const wanted = Buffer.from(uri);
  return Buffer.from(min_value).compare(wanted) <= 0 && Buffer.from(max_value).compare(wanted) >= 0;
}

/** A row in the form of a line. */
function lineOf(row: Record<string, unknown>): SourceLine {
  const { quarantined, timestampMs, ...others } = row;
  const fields = Object.entries(others).filter(([, value]) => value !== null);
  const known = fields.map(([name, value]) => [name, typeof value === 'bigint' ? Number(value) : value]);
  const line = Object.fromEntries(known);
  // The time of a frame may be null.
  if (line.frame !== undefined) line.timestampMs = timestampMs;
  if (quarantined) line.quarantined = true;
  return line;
}
