import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { BucketPrefix } from '@halogrid/sources';
import { forEachLimited } from '@halogrid/threads';
import { isOfOutput } from './is-of-output.ts';

const filesAtOnce = 4;

/** Folders whose content stays in the bucket, also in the folder of a pipeline. */
const pictureFolders = ['maps/', 'preview/'];

/**
 * Brings the output in a bucket to a folder, for a job that keeps results of it: its tables whole, because nearly all
 * of their bytes are read once, and of maps and previews the names, as empty files and folders.
 */
export async function bringEarlier(prefix: BucketPrefix, folder: string): Promise<void> {
  const files: string[] = [];
  const bringLevel = async (level: string): Promise<void> => {
    for await (const name of prefix.listLevel(level)) {
      const own = name.slice(level.length);
      if (!isOfOutput(own) || own === 'job.json') continue;
      if (pictureFolders.includes(own)) await markNames(prefix, folder, name);
      else if (own === 'pipelines/') for await (const each of prefix.listLevel(name)) await bringLevel(each);
      else if (own.endsWith('/')) for await (const file of prefix.list(name)) files.push(file.name);
      else files.push(name);
    }
  };
  await bringLevel('');
  await forEachLimited(files, filesAtOnce, (name) => bring(prefix, name, folder));
}

async function markNames(prefix: BucketPrefix, folder: string, level: string): Promise<void> {
  await mkdir(join(folder, level), { recursive: true });
  for await (const name of prefix.listLevel(level)) {
    if (name.endsWith('/')) await mkdir(join(folder, name), { recursive: true });
    else await writeFile(join(folder, name), '');
  }
}

async function bring(prefix: BucketPrefix, name: string, folder: string): Promise<void> {
  const path = join(folder, name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, prefix.read(name));
}
