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
