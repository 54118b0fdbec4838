import { SourceNotFoundError } from '../source-errors.ts';
import { expandBraces } from './expand-braces.ts';
import { matchesName, type NamePattern, parseName } from './match-name.ts';
import { isHidden, type Selection } from './selection.ts';

/**
 * The most characters of patterns with `*`, `?` or sets, in all alternatives together. With as many, the slowest name
 * takes 30 ms: it has the greatest length, and all patterns match it for as long as they can.
 */
const maxPatternCharacters = 2 ** 15;

/** The longest name of any file system, in UTF-16 units; a manifest may name a file that cannot exist. */
const maxNameLength = 255;

/** How far a glob is matched by the folder that is looked at. Alternatives that begin alike share their beginning. */
interface Place {
  /** Whether the glob may end here, at a file. */
  isEnd: boolean;
  /** Below `**`: folders may come in between. */
  isBelowAny: boolean;
  /** Whether hidden folders may. */
  isBelowHidden: boolean;
  /** Behind `**`, which may stand for no folder. */
  any?: Place;
  /** Next places, by the name that leads there. */
  named?: Map<string, Place>;
  /** Next places, by the text of the pattern that leads there. */
  patterns?: Map<string, { pattern: NamePattern; takesHidden: boolean; place: Place }>;
}

/**
 * The files that match a glob, whose parts are separated by '/': `*` stands for any characters, `?` for one, `[a-c]`
 * for one of these, `[!a-c]` for one that is not among these, `{a,b}` and `{1..20}` for each of these, and `**` for
 * folders of any depth. Hidden names match only a part that begins with a dot. Symbolic links to folders are followed
 * if a part names them, not by `**`. Throws RangeError, with one sentence, for an invalid set and for too many
 * alternatives.
 */
export const selectGlob = (glob: string): Selection => selectGlobs([glob]);

/** The files that match one of the globs. `takesHidden`: hidden names match as others do. */
export function selectGlobs(globs: readonly string[], { takesHidden = false } = {}): Selection {
  const root = newPlace();
  let characters = 0;
  for (const alternative of globs.flatMap((glob) => expandBraces(glob))) {
    characters += addAlternative(
      root,
      alternative.split('/').filter((part) => part !== ''),
      takesHidden,
    );
    if (characters > maxPatternCharacters) {
      throw new RangeError(`Expected at most ${maxPatternCharacters} characters in the alternatives with *, ? or []`);
    }
  }
  return new GlobSelection(new Set(withBehind(root)));
}

/** Adds an alternative. Returns how many characters of patterns it has added. */
function addAlternative(root: Place, parts: readonly string[], takesHidden: boolean): number {
  let place = root;
  let characters = 0;
  // At the end, `**` stands for the files in folders of any depth.
  for (const part of parts.at(-1) === '**' ? [...parts, '*'] : parts) {
    if (part === '**') {
      // Several `**` in a row are one.
      if (!place.isBelowAny) place = place.any ??= newPlace(true, takesHidden);
      continue;
    }
    const known = place.named?.get(part) ?? place.patterns?.get(part)?.place;
    if (known) {
      place = known;
      continue;
    }
    const pattern = parseName(part);
    const next = newPlace();
    if ('literal' in pattern) {
      place.named ??= new Map();
      place.named.set(part, next);
    } else {
      place.patterns ??= new Map();
      place.patterns.set(part, { pattern, takesHidden: takesHidden || isHidden(part), place: next });
      characters += part.length;
    }
    place = next;
  }
  place.isEnd = true;
  return characters;
}

const newPlace = (isBelowAny = false, isBelowHidden = false): Place => ({ isEnd: false, isBelowAny, isBelowHidden });

class GlobSelection implements Selection {
  readonly walksAll = false;
  readonly #places: ReadonlySet<Place>;

  constructor(places: ReadonlySet<Place>) {
    this.#places = places;
  }

  takes(name: string): boolean {
    for (const { isEnd } of step(this.#places, name, false)) if (isEnd) return true;
    return false;
  }

  enter(name: string, isLink: boolean): Selection | undefined {
    const places = new Set([...step(this.#places, name, isLink)].filter(leadsOn));
    return places.size > 0 ? new GlobSelection(places) : undefined;
  }
}

const leadsOn = ({ any, named, patterns }: Place): boolean => (any ?? named ?? patterns) !== undefined;

/** The places that a name leads to, some of them more than once. */
function* step(places: Iterable<Place>, name: string, isLink: boolean): Generator<Place, void, undefined> {
  if (name.length > maxNameLength) return;
  for (const place of places) {
    if (place.isBelowAny && (place.isBelowHidden || !isHidden(name)) && !isLink) yield place;
    const named = place.named?.get(name);
    if (named) yield* withBehind(named);
    for (const { pattern, takesHidden, place: next } of place.patterns?.values() ?? []) {
      if ((takesHidden || !isHidden(name)) && matchesName(pattern, name)) yield* withBehind(next);
    }
  }
}

function* withBehind(place: Place): Generator<Place, void, undefined> {
  yield place;
  if (place.any) yield place.any;
}

/** As selectGlob, but throws SourceNotFoundError, which names `source` as the user knows it. */
export function globOf(glob: string, source: string): Selection {
  try {
    return selectGlob(glob);
  } catch (error) {
    throw new SourceNotFoundError(`'${beginning(source)}' is not a glob: ${(error as Error).message}`);
  }
}

/** Enough of a source to recognise it. The reason comes behind it, and nobody reads past thousands of braces. */
const beginning = (source: string): string => (source.length > 200 ? `${source.slice(0, 200)}…` : source);
