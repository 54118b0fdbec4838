import { statSync } from 'node:fs';

/**
 * Tells whether the files of some paths are those that they were. A file that is open keeps its number, whatever becomes of its
 * name, and no other file gets that number meanwhile.
 */
export class SameFiles {
  readonly #identities: { path: string; identity: string | undefined }[];

  constructor(paths: readonly string[]) {
    this.#identities = paths.map((path) => ({ path, identity: identityOf(path) }));
  }

  /** The first path where another file is now, or none. Throws where the system does not say. */
  firstChanged(): string | undefined {
    return this.#identities.find(({ path, identity }) => identityOf(path) !== identity)?.path;
  }
}

/** Device and number of the file; undefined where there is none. */
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
