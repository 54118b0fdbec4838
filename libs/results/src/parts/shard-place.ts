import { join } from 'node:path';
import { listNames } from '../sources/source-line.ts';

/** The place of a shard's rows in a file of a part. */
export interface FilePlace {
  /** The row groups: the index of the first, and how many. */
  firstGroup: number;
  groups: number;
  /** Their bytes: where they begin in the file, how many, and their CRC-32. */
  start: number;
  length: number;
  checksum: number;
}

/** The places of a shard's rows in the files of a pipeline. */
export interface ShardPlace {
  sources: FilePlace;
  /** Absent if the pipeline has no histogram. */
  features?: FilePlace;
}

/**
 * The most bytes of a file of a part. A part ends at 32 MB of counts or at 64 shards, each with a block of sources of
 * at most 8 MiB, so no file comes near this.
 */
export const mostPartBytes = 2 ** 32;

const partId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Whether a text can be the ID of a part: a UUID, which is never used again. */
export const isPartId = (id: string): boolean => partId.test(id);

/** The folder of parts in the scratch folder of a job. */
export const partsFolder = 'parts';

/**
 * The folder and files of the pipeline with this index in the folder of a part. `names` has the names of all pipelines.
 */
export function pipelinePaths(
  part: string,
  names: readonly string[],
  pipeline: number,
): Record<'folder' | 'sources' | 'features', string> {
  const folder = names.length === 1 ? part : join(part, 'pipelines', names[pipeline]!);
  return { folder, sources: join(folder, listNames.rows), features: join(folder, 'features.parquet') };
}
