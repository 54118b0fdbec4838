import { basename, dirname, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hasImageExtension } from './image-extensions.ts';
import { isHidden, type Selection } from './selection.ts';

/** What a source of a job stands for, as far as one can tell which inputs it has without listing them. */
export type SourceShape =
  | { kind: 'input'; uri: string }
  | { kind: 'folder'; folder: string }
  | { kind: 'glob'; folder: string; selection: Selection }
  /** A manifest, for one: what it lists is not remembered. */
  | { kind: 'untold' };

/**
 * Tells whether an input was given before. It remembers the sources that a job names, not their inputs, of which there may
 * be millions; so it looks at names alone, and knows nothing of what manifests list.
 */
export class InputsBefore {
  readonly #inputs = new Set<string>();
  readonly #folders = new Set<string>();
  readonly #globs: { folder: string; selection: Selection }[] = [];

  add(shape: SourceShape): void {
    if (shape.kind === 'input') this.#inputs.add(shape.uri);
    else if (shape.kind === 'folder') this.#folders.add(shape.folder);
    else if (shape.kind === 'glob') this.#globs.push(shape);
  }

  includes(uri: string): boolean {
    if (this.#inputs.has(uri)) return true;
    if (this.#folders.size + this.#globs.length === 0 || !uri.startsWith('file:')) return false;
    let path: string;
    try {
      path = fileURLToPath(uri);
    } catch {
      return false;
    }
    return this.#isInFolder(path) || this.#globs.some((glob) => isMatch(path, glob.folder, glob.selection));
  }

  #isInFolder(path: string): boolean {
    if (!hasImageExtension(path)) return false;
    for (let at = path; !isHidden(basename(at)) && at !== dirname(at); at = dirname(at)) {
      if (this.#folders.has(dirname(at))) return true;
    }
    return false;
  }
}

function isMatch(path: string, folder: string, selection: Selection): boolean {
  const names = relative(folder, path).split('/');
  if (names[0] === '..') return false;
  const file = names.pop()!;
  let at: Selection | undefined = selection;
  for (const name of names) at = at?.enter(name, false);
  return at?.takes(file) ?? false;
}
