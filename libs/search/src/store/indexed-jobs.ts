import { readManifest } from './index-folder.ts';

/**
 * The ids of the jobs that an index has frames of; undefined if the folder has no index that this version can read. It
 * reads nothing else of the index.
 */
export async function indexedJobs(folder: string): Promise<ReadonlySet<string> | undefined> {
  const manifest = await readManifest(folder).catch(() => undefined);
  return manifest && new Set(manifest.segments.flatMap(({ jobs }) => jobs.map(({ id }) => id)));
}
