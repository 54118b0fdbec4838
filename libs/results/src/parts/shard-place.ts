import { join } from 'node:path';
import { listNames } from '../sources/source-line.ts';

/** Where the rows of a shard are in a file of a part. */
export interface FilePlace {
  /** Its row groups: the first, and how many. */
  firstGroup: number;
  groups: number;
  /** The bytes of these: where they begin in the file, how many, and their CRC-32. */
  start: number;
  length: number;
  checksum: number;
}

/** Where a part has the rows of a pipeline for a shard. */
export interface ShardPlace {
  sources: FilePlace;
  /** Absent where the pipeline has no histogram. */
  features?: FilePlace;
}

/**
 * The most bytes of a file of a part. A part ends at 32 MB of counts or 64 shards, each with a block of sources of 8
 * MiB at most, so no file comes near this.
 */
export const mostPartBytes = 2 ** 32;

const partId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Whether a part may have that ID: a UUID, which is never used again. */
export const isPartId = (id: string): boolean => partId.test(id);

/** Folders of parts in the scratch folder of a job. */
export const partsFolder = 'parts';

/** The files of the pipeline of that number in the folder of a part; `names`: the names of all pipelines. */
export function pipelinePaths(
  part: string,
  names: readonly string[],
  pipeline: number,
): Record<'folder' | 'sources' | 'features', string> {
  const folder = names.length === 1 ? part : join(part, 'pipelines', names[pipeline]!);
  return { folder, sources: join(folder, listNames.rows), features: join(folder, 'features.parquet') };
}
