import { realpath } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { Refusal, refuseValue } from '@halogrid/jobs/refusal';
import { shortened } from '@halogrid/kernels';
import { allowedPath, SourceForbiddenError, sourceAccess } from '@halogrid/sources';

/** Folders of indexes, by the names that requests use. */
export type NamedFolders = ReadonlyMap<string, string>;

/** The folder of an index: `given` is a name, or an absolute path in a data root. Rejects with Refusal. */
export async function indexFolder(given: string, named: NamedFolders): Promise<string> {
  const folder = named.get(given);
  if (folder !== undefined) return folder;
  if (isAbsolute(given)) return folderInRoots(given, 'an index');
  const names = [...named.keys()];
  const known = names.length > 0 ? `; there is ${names.join(', ')}` : ": start 'halogrid coordinator' with --index DIR";
  throw new Refusal('missing', `There is no index '${shortened(given)}' here${known}`);
}

/**
 * The folder at an absolute path in a data root, without links; `what` it is of is for the sentence. Rejects with
 * Refusal, which tells nothing about paths elsewhere.
 */
export async function folderInRoots(path: string, what: string): Promise<string> {
  if (!sourceAccess().roots) {
    throw new Refusal('forbidden', `Only a coordinator with --data-root looks for ${what} by its path`);
  }
  if (!isAbsolute(path)) refuseValue(`the path of ${what}`, path, 'an absolute path');
  try {
    return await realpath(await allowedPath(path));
  } catch (error) {
    if (error instanceof SourceForbiddenError) throw new Refusal('forbidden', error.message);
    throw new Refusal('missing', `There is no folder '${shortened(path)}'`);
  }
}
