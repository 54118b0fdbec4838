import { readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { putFile } from '@halogrid/results/put-file';
import { pipelinePaths } from '@halogrid/results/shard-place';

/**
 * Sends the part in `folder` to a coordinator, which makes the part durable when its last file arrives, and removes the
 * part here. `url`: the URL of the part. `names`: the names of its pipelines. Rejects with one sentence.
 */
export async function sendPart(folder: string, url: string, names: readonly string[]): Promise<void> {
  const paths = names.map((_, nth) => pipelinePaths('', names, nth));
  const files = paths.flatMap(({ sources, features }) => [sources, features]);
  try {
    for (const file of files.toReversed()) {
      const path = join(folder, file);
      // A pipeline may have no histogram.
      if (await stat(path).catch(() => undefined)) await putFile(`${url}/${file}`, await readFile(path), 'part');
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
