import { expandBraces } from './expand-braces.ts';
import { isHidden, type Selection } from './selection.ts';

/** One folder or file name of a pattern: folders of any depth, or a name that matches. */
type Part = 'any folders' | { matches: RegExp; takesHidden: boolean };

/** A pattern and how many of its parts are matched by the folder that is looked at. */
interface Place {
  parts: readonly Part[];
  at: number;
}

/**
 * The files that match a glob, whose parts are separated by '/': `*` stands for any characters, `?` for one, `[a-c]` and
 * `[!a-c]` for one of these or none of these, `{a,b}` and `{1..20}` for each of these, and `**` for folders of any depth.
 * Hidden names match only a part that begins with a dot. Symbolic links to folders are followed where a part names them,
 * not by `**`.
 */
export function selectGlob(pattern: string): Selection {
  const alternatives = expandBraces(pattern).map((alternative) => alternative.split('/').filter((part) => part !== ''));
  return new GlobSelection(alternatives.map((parts) => ({ parts: parseParts(parts), at: 0 })));
}

class GlobSelection implements Selection {
  readonly walksAll = false;
  readonly #places: readonly Place[];

  constructor(places: readonly Place[]) {
    this.#places = places;
  }

  takes(name: string): boolean {
    return step(this.#places, name, false).some(({ parts, at }) => at === parts.length);
  }

  enter(name: string, isLink: boolean): Selection | undefined {
    const places = step(this.#places, name, isLink).filter(({ parts, at }) => at < parts.length);
    return places.length > 0 ? new GlobSelection(places) : undefined;
  }
}

/** The places that a name leads to. */
function step(places: readonly Place[], name: string, isLink: boolean): Place[] {
  const next: Place[] = [];
  for (const { parts, at } of places) {
    for (let i = at; i < parts.length; i++) {
      const part = parts[i]!;
      if (part !== 'any folders') {
        if ((part.takesHidden || !isHidden(name)) && part.matches.test(name)) next.push({ parts, at: i + 1 });
        break;
      }
      if (!isHidden(name) && !isLink) next.push({ parts, at: i });
    }
  }
  return next;
}

/** At the end, `**` stands for the files in folders of any depth. */
function parseParts(parts: readonly string[]): Part[] {
  return (parts.at(-1) === '**' ? [...parts, '*'] : parts).map(parsePart);
}

function parsePart(text: string): Part {
  if (text === '**') return 'any folders';
  return { matches: new RegExp(`^${patternOf(text)}$`, 'su'), takesHidden: isHidden(text) };
}

/** The regular expression of one part, which has no braces any more. */
function patternOf(text: string): string {
  return text.replace(/\[(!|\^)?(\]?[^\]]*)\]|\*+|\?|[^[*?]+|\[/gsu, (found, not, set) => {
    if (found === '?') return '.';
    if (found.startsWith('*')) return '.*';
    if (set) return `[${not ? '^' : ''}${set.replace(/[\\[\]^]/g, '\\$&').replace(/^-|-$/g, '\\-')}]`;
    return found.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  });
}
