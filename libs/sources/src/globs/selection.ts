import { hasImageExtension } from '../formats.ts';

/** Selects files of a folder and below. Names are without a path. */
export interface Selection {
  /**
   * Whether all folders are walked except those that are passed over. If so, a link to a walked folder adds nothing.
   */
  readonly walksAll: boolean;
  /** Whether a file of that name is selected. */
  takes(name: string): boolean;
  /**
   * The selection in a folder of that name, or in one that a symbolic link of that name leads to; undefined if nothing
   * in it is selected.
   */
  enter(name: string, isLink: boolean): Selection | undefined;
  /** Whether an entry of that name is left out by a filter alone. Without a filter, absent. */
  leavesOut?(name: string, kind: EntryKind): boolean;
}

/** What is at a name; `other`: a link, for example. */
export type EntryKind = 'file' | 'folder' | 'other';

/** The selection in a folder some names below, without links; undefined if nothing in it is selected. */
export function selectionBelow(selection: Selection, names: readonly string[]): Selection | undefined {
  let at: Selection | undefined = selection;
  for (const name of names) at = at?.enter(name, false);
  return at;
}

/** A file or folder that is not an input, by its name. The content of such a folder is not reported. */
export interface PassedOver {
  /** Its path or its URI. Bytes that are not UTF-8 are U+FFFD. */
  path: string;
  isFolder: boolean;
  /** Set if it is left out by a filter alone. */
  isFiltered?: true;
}

/**
 * What is to be said of an entry that is not selected, at `path`; undefined if it is nothing to speak of, as for a name
 * that a glob does not match.
 */
export function passedOver(
  selection: Selection,
  { path, name, kind }: { path: string; name: string; kind: EntryKind },
): PassedOver | undefined {
  const isFolder = kind === 'folder';
  if (selection.leavesOut?.(name, kind)) return { path, isFolder, isFiltered: true };
  return selection.walksAll ? { path, isFolder } : undefined;
}

/** The files in a folder and below with the extension of an image, without hidden files and folders of copies. */
export const imagesBelow: Selection = {
  walksAll: true,
  takes: (name) => !isHidden(name) && hasImageExtension(name),
  enter: (name) => (isPassedOver(name) ? undefined : imagesBelow),
};

export function isHidden(name: string): boolean {
  return name.startsWith('.');
}

/** Names, in lower case, of folders in which systems keep thumbnails, deleted files and copies. */
const keptBySystems: ReadonlySet<string> = new Set([
  // Synology and QNAP; names that begin with a dot are hidden anyway.
  ...['@eadir', '#recycle', '#snapshot', '@recycle', '@recently-snapshot'],
  ...['$recycle.bin', 'recycler', 'recycled', 'system volume information', 'lost+found', '__macosx'],
  ...['network trash folder', 'temporary items'],
]);

/** Whether a folder of that name is passed over when its parent folder is listed. */
export const isPassedOver = (name: string): boolean => isHidden(name) || keptBySystems.has(name.toLowerCase());
