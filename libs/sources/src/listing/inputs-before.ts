import { basename, dirname, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hasImageExtension } from '../formats.ts';
import { imagesBelow, isPassedOver, type Selection, selectionBelow } from '../globs/selection.ts';
import { holderOf } from '../part-uri.ts';
import { isStoreName } from '../zarr/store-name.ts';

/** What a source of a job stands for, as far as its inputs are known without listing them. */
export type SourceShape =
  | { kind: 'input'; uri: string }
  | { kind: 'folder' | 'glob'; folder: string; selection: Selection }
  /** A manifest, for example: its inputs are not remembered. */
  | { kind: 'untold' };

/**
 * Tells whether an input was given before. It remembers the sources that a job names, but not their inputs, because
 * there may be millions. So it looks at names only, and does not know what manifests list.
 */
export class InputsBefore {
  readonly #inputs = new Set<string>();
  readonly #folders = new Map<string, Selection>();
  /** Globs by the folder that they begin in. */
  readonly #globs = new Map<string, Selection[]>();
  readonly #leftOut = new Set<string>();

  add(shape: SourceShape): void {
    if (shape.kind === 'input') this.#inputs.add(shape.uri);
    else if (shape.kind === 'folder') this.#folders.set(shape.folder, shape.selection);
    else if (shape.kind === 'glob') {
      const others = this.#globs.get(shape.folder);
      if (others) others.push(shape.selection);
      else this.#globs.set(shape.folder, [shape.selection]);
    }
  }

  /** Tells of a folder that was not walked when a folder above it was. */
  leaveOut(folder: string): void {
    this.#leftOut.add(folder);
  }

  includes(text: string): boolean {
    // The members of a tar are listed together, and so are the rows of a file.
    const uri = holderOf(text);
    if (this.#inputs.size > 0 && this.#inputs.has(uri)) return true;
    if (this.#folders.size + this.#globs.size === 0 || !uri.startsWith('file:')) return false;
    let path: string;
    try {
      path = fileURLToPath(uri);
    } catch {
      return false;
    }
    let mayBeBelow = hasImageExtension(path);
    for (let at = path; at !== dirname(at); at = dirname(at)) {
      const folder = dirname(at);
      // Nothing is looked for in a Zarr.
      mayBeBelow &&= !isPassedOver(basename(at)) && (at === path || !isStoreName(basename(at)));
      const inFolder = mayBeBelow ? this.#folders.get(folder) : undefined;
      if (inFolder && (inFolder === imagesBelow || isMatch(path, folder, inFolder))) return true;
      if (this.#globs.get(folder)?.some((selection) => isMatch(path, folder, selection))) return true;
      if (this.#leftOut.has(folder)) return false;
    }
    return false;
  }

  /** Whether a folder given before has already reported that path as not an input. */
  passedOver(path: string): boolean {
    if (this.#folders.size === 0) return false;
    const above = dirname(path);
    for (let at = above; ; at = dirname(at)) {
      const selection = this.#folders.get(at);
      if (selection && selectionBelow(selection, namesBetween(at, above))) return true;
      if (at === dirname(at) || isPassedOver(basename(at)) || this.#leftOut.has(at)) return false;
    }
  }
}

function isMatch(path: string, folder: string, selection: Selection): boolean {
  const names = namesBetween(folder, path);
  const file = names.pop()!;
  if (names.some(isStoreName)) return false;
  return selectionBelow(selection, names)?.takes(file) ?? false;
}

const namesBetween = (folder: string, path: string): string[] =>
  folder === path ? [] : relative(folder, path).split('/');
