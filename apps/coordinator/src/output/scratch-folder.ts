import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import {
  earlierJobPath,
  isUnfinishedTables,
  outputPath,
  partScratchUri,
  scratchUri,
} from '@halogrid/jobs/output-paths';
import type { JobSpec } from '@halogrid/proto';
import { outputEntries } from '@halogrid/results/output-entries';
import { isOutputPlace, readyOutput } from '@halogrid/results/publish-output';
import { isBucketUri } from '@halogrid/sources';
import { removeFolder } from './bucket/bucket-output.ts';

/** Removes everything that jobs write into the folder, besides job.json. */
export async function removeOutput(out: string): Promise<void> {
  for (const entry of outputEntries) {
    // Retries, because a node that does not know yet may still write a chunk.
    await rm(join(outputPath(out), entry), { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Removes files that a job makes again when it goes on, unless its output is complete. Computed results stay. */
export async function removeRemade(out: string): Promise<void> {
  const scratch = fileURLToPath(scratchUri(out));
  const isWhole = (await readyOutput(outputPath(out))) !== undefined;
  for (const name of await readdir(scratch).catch((): string[] => [])) {
    if ((isOutputPlace(name) && !isWhole) || isUnfinishedTables(name) || name.endsWith('.tmp')) {
      await rm(join(scratch, name), { recursive: true, force: true, maxRetries: 3 }).catch(() => {});
    }
  }
}

/** Removes tables of earlier leaders, which take room. An earlier leader that still writes begins its tables again. */
export async function removeUnfinishedTables(out: string): Promise<void> {
  const scratch = fileURLToPath(scratchUri(out));
  for (const name of await readdir(scratch)) {
    if (isUnfinishedTables(name)) await rm(join(scratch, name), { recursive: true, force: true, maxRetries: 3 });
  }
}

/**
 * Removes the scratch folder, if it can: its remains do no harm. An output in a bucket needs nothing of its folder any
 * more.
 */
export async function removeScratch(out: string): Promise<void> {
  if (isBucketUri(out)) return removeFolder(out).catch(() => {});
  await rm(fileURLToPath(scratchUri(out)), { recursive: true, force: true, maxRetries: 3 }).catch(() => {});
}

/** Writers of chunks make folders in it, but never the scratch folder itself. */
export async function makeScratch(out: string, { pipelines }: JobSpec): Promise<void> {
  await mkdir(fileURLToPath(scratchUri(out)), { recursive: true });
  for (const { name } of pipelines?.named ?? []) {
    await mkdir(fileURLToPath(partScratchUri(out, name)), { recursive: true });
  }
}

/** Empties the scratch folder of an earlier job, except for the record of its output. */
export async function clearScratch(path: string): Promise<void> {
  const scratch = join(path, '.halogrid');
  for (const entry of await readdir(scratch)) {
    if (join(scratch, entry) === earlierJobPath(pathToFileURL(path).href)) continue;
    await rm(join(scratch, entry), { recursive: true, force: true, maxRetries: 3 });
  }
}
