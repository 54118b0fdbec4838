import { statSync } from 'node:fs';

/**
 * Tells whether the paths still lead to the same files. An open file keeps its inode number, even if it is renamed or
 * deleted, and no other file gets that number meanwhile.
 */
export class SameFiles {
  readonly #identities: { path: string; identity: string | undefined }[];

  constructor(paths: readonly string[]) {
    this.#identities = paths.map((path) => ({ path, identity: identityOf(path) }));
  }

  /** The first path that leads to another file, or to none. Throws if the system cannot tell. */
  firstChanged(): string | undefined {
    return this.#identities.find(({ path, identity }) => identityOf(path) !== identity)?.path;
  }
}

/** Device and inode number of the file; undefined if there is no file. */
function identityOf(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    return `${dev}:${ino}`;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}
