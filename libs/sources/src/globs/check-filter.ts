import { named, type Sentence, sentence } from '@halogrid/proto/sentence';
import { charactersOfBraces } from './expand-braces.ts';
import { type FilterGlobs, selectPaths } from './path-filter.ts';

/** The most characters that the braces of a list of globs expand to. */
const maxBracesCharacters = 2 ** 20;

/** A filter of inputs that cannot be one. */
export class FilterError extends Error {
  readonly sentence: Sentence;

  constructor(sentence: Sentence) {
    super(String(sentence));
    this.name = 'FilterError';
    this.sentence = sentence;
  }
}

/** Throws FilterError for a glob that is not one, and for globs that stand for too much. */
export function checkFilter({ include, exclude }: FilterGlobs): void {
  checkGlobs('filter.include', include);
  checkGlobs('filter.exclude', exclude);
}

/** That the filter leaves nothing. */
export function whyNoInput({ include, exclude }: FilterGlobs): Sentence {
  const [first, second] = [
    ...(include.length > 0 ? ['filter.include'] : []),
    ...(exclude.length > 0 ? ['filter.exclude'] : []),
  ];
  return second
    ? sentence`${named(first!)} and ${named(second)} leave out every input`
    : sentence`${named(first!)} leaves out every input`;
}

function checkGlobs(field: string, globs: readonly string[]): void {
  let characters = 0;
  for (const [i, glob] of globs.entries()) {
    refusing(`${field}[${i}]`, glob, () => selectPaths([glob]));
    characters += charactersOfBraces(glob);
  }
  if (characters > maxBracesCharacters) {
    throw new FilterError(
      sentence`Expected at most ${maxBracesCharacters} for the characters of all alternatives in the braces of ${named(field)} but received ${characters}`,
    );
  }
  refusing(field, `${globs.length} globs`, () => selectPaths(globs));
}

function refusing(field: string, given: string, select: () => void): void {
  try {
    select();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const short = given.length > 200 ? `${given.slice(0, 200)}…` : given;
    throw new FilterError(
      sentence`Expected a glob of paths below a folder, such as '*.png' or 'cam1/**', for ${named(field)} but received '${short}': ${error.message}`,
    );
  }
}
