import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SourceList } from '@halogrid/results/source-list';

/** An image, a video or a frame of a complete job. Quarantined ones have no size. */
export interface JobSource {
  uri: string;
  width: number;
  height: number;
}

/**
 * The sources of the complete job in an output folder: the list in its job.json, or, if there are too many, the lines
 * of the file that job.json names. Rejects if one of the files is missing.
 */
export async function sourcesOfJob(folder: string): Promise<JobSource[]> {
  const { sources } = JSON.parse(await readFile(join(folder, 'job.json'), 'utf8'));
  if (Array.isArray(sources)) return sources;
  const list = await SourceList.at(join(folder, sources.file));
  return (await Array.fromAsync(list.lines())) as JobSource[];
}
