import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SourceList } from '@halogrid/results/source-list';

/** An image of a complete job, or a video or one of its frames; one that is quarantined has no size. */
export interface JobSource {
  uri: string;
  width: number;
  height: number;
}

/**
 * The sources of the complete job whose output is in a folder: those that its job.json lists, or, where they are too
 * many for that, the lines of the file that it names. Rejects where one of the files is missing.
 */
export async function sourcesOfJob(folder: string): Promise<JobSource[]> {
  const { sources } = JSON.parse(await readFile(join(folder, 'job.json'), 'utf8'));
  if (Array.isArray(sources)) return sources;
  const list = await SourceList.at(join(folder, sources.file));
  return (await Array.fromAsync(list.lines())) as JobSource[];
}
