import { holdsSources } from '../formats.ts';
import { selectGlobs } from './glob-selection.ts';
import { type EntryKind, type Selection, selectionBelow } from './selection.ts';

/** Which inputs of a job count, by globs over their paths below the folder that the job names. */
export interface FilterGlobs {
  /** Only inputs that one of these fits; empty: all. */
  readonly include: readonly string[];
  /** No input that one of these fits. */
  readonly exclude: readonly string[];
}

/**
 * Takes some of the inputs of a source. A glob without '/' fits a name at any depth, other globs fit the path from the
 * folder on; what fits a folder fits everything in it. Hidden names are names like others. Throws RangeError for a glob
 * that is not one.
 */
export class PathFilter {
  readonly #include: Selection | undefined;
  readonly #exclude: Selection | undefined;

  constructor({ include, exclude }: FilterGlobs) {
    this.#include = include.length > 0 ? selectPaths(include) : undefined;
    this.#exclude = exclude.length > 0 ? selectPaths(exclude) : undefined;
  }

  /** The same selection, without what this filter leaves out. */
  within(selection: Selection): Selection {
    return new FilteredSelection(selection, this.#include, this.#exclude);
  }

  /** Whether the input at a path counts. The path may be a URI, too. */
  takes(path: string): boolean {
    const names = path.split('/').filter((name) => name !== '' && name !== '.');
    const last = names.pop() ?? '';
    return selectionBelow(this.within(everything), names)?.takes(last) ?? false;
  }
}

/** The selection of files and folders at paths that globs of a filter fit. */
export const selectPaths = (globs: readonly string[]): Selection =>
  selectGlobs(globs.map(fromFolder), { takesHidden: true });

/** The glob as one from the folder on: a name alone may lie at any depth, unless a '/' is before it. */
function fromFolder(glob: string): string {
  const parts = glob.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.length === 0) throw new RangeError('it has no name');
  if (parts.includes('..')) throw new RangeError("it leads out of the folder with '..'");
  const isAtAnyDepth = parts.length === 1 && !glob.startsWith('/') && !glob.startsWith('./');
  return isAtAnyDepth ? `**/${parts[0]}` : parts.join('/');
}

const everything: Selection = { walksAll: true, takes: () => true, enter: () => everything };

class FilteredSelection implements Selection {
  readonly #selection: Selection;
  readonly #include: Selection | undefined;
  readonly #exclude: Selection | undefined;

  /** Without `include`, all names are included. */
  constructor(selection: Selection, include: Selection | undefined, exclude: Selection | undefined) {
    this.#selection = selection;
    this.#include = include;
    this.#exclude = exclude;
  }

  get walksAll(): boolean {
    return this.#selection.walksAll;
  }

  takes(name: string): boolean {
    if (!this.#selection.takes(name) || this.#exclude?.takes(name)) return false;
    // A tar or Parquet file is a folder: what is in it may fit.
    const isEntered = holdsSources(name) && this.#include?.enter(name, false) !== undefined;
    return isEntered || (this.#include?.takes(name) ?? true);
  }

  enter(name: string, isLink: boolean): Selection | undefined {
    const selection = this.#selection.enter(name, isLink);
    if (!selection || this.#exclude?.takes(name)) return undefined;
    const isIncluded = this.#include?.takes(name) ?? true;
    const include = isIncluded ? undefined : this.#include?.enter(name, false);
    if (!isIncluded && !include) return undefined;
    const exclude = this.#exclude?.enter(name, false);
    return include || exclude ? new FilteredSelection(selection, include, exclude) : selection;
  }

  leavesOut(name: string, kind: EntryKind): boolean {
    const isSelected = (selection: Selection): boolean =>
      (kind !== 'folder' && selection.takes(name)) ||
      (kind !== 'file' && selection.enter(name, kind === 'other') !== undefined);
    return isSelected(this.#selection) && !isSelected(this);
  }
}
