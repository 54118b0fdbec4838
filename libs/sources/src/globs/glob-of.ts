import type { Selection } from '../listing/selection.ts';
import { SourceNotFoundError } from '../source-not-found-error.ts';
import { selectGlob } from './glob-selection.ts';

/** As selectGlob. Throws SourceNotFoundError, with `source` as the user knows it, where that is no glob. */
export function globOf(glob: string, source: string): Selection {
  try {
    return selectGlob(glob);
  } catch (error) {
    throw new SourceNotFoundError(`'${beginning(source)}' is no glob: ${(error as Error).message}`);
  }
}

/** Enough of a source to know it by: what is wrong with it comes behind, and nobody reads thousands of braces to get there. */
const beginning = (source: string): string => (source.length > 200 ? `${source.slice(0, 200)}…` : source);
