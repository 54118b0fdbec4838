import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { UsageError } from '@halogrid/service';

/** A class: a sub-folder of the tree, by its name. */
export interface ClassFolder {
  label: string;
  path: string;
}

/** The classes of a labelled tree, sorted by name. Rejects with UsageError if there are fewer than two. */
export async function classFolders(folder: string): Promise<ClassFolder[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: Error) => {
    throw new UsageError(
      `Expected a folder with a sub-folder for each class but '${folder}' cannot be read: ${error.message}`,
    );
  });
  const labels = entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.')).map(({ name }) => name);
  if (labels.length < 2) {
    throw new UsageError(
      `Expected a folder with a sub-folder for each class but '${folder}' has ${labels.length || 'none'}`,
    );
  }
  return labels.sort().map((label) => ({ label, path: join(folder, label) }));
}

/** The class of an image, by its URI. */
export function classOf(uri: string, classes: readonly ClassFolder[]): string | undefined {
  return classes.find(({ path }) => uri.startsWith(`${pathToFileURL(path).href}/`))?.label;
}
