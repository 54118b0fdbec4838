import { selectGlob } from './glob-selection.ts';
import type { Selection } from './selection.ts';
import { SourceNotFoundError } from './source-not-found-error.ts';

/** As selectGlob. Throws SourceNotFoundError, with `source` as the user knows it, where that is no glob. */
export function globOf(glob: string, source: string): Selection {
  try {
    return selectGlob(glob);
  } catch (error) {
    throw new SourceNotFoundError(`'${source}' is no glob: ${(error as Error).message}`);
  }
}
