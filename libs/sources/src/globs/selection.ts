import { hasImageExtension } from '../formats.ts';

/** What is wanted of a folder. Names are without a path. */
export interface Selection {
  /** Whether every folder is walked that is not passed over, so that a link to one of them adds nothing. */
  readonly walksAll: boolean;
  /** Whether a file of that name is. */
  takes(name: string): boolean;
  /** What is wanted of a folder of that name, or of one that a symbolic link of that name leads to; undefined: nothing. */
  enter(name: string, isLink: boolean): Selection | undefined;
}

/** The files in a folder and below that are images by their extension, without hidden ones and folders of copies. */
export const imagesBelow: Selection = {
  walksAll: true,
  takes: (name) => !isHidden(name) && hasImageExtension(name),
  enter: (name) => (isPassedOver(name) ? undefined : imagesBelow),
};

export function isHidden(name: string): boolean {
  return name.startsWith('.');
}

/** Folders in which systems keep thumbnails, deleted files and copies of a folder, in lower case. */
const keptBySystems: ReadonlySet<string> = new Set([
  // Synology and QNAP; what begins with a dot is hidden anyway.
  ...['@eadir', '#recycle', '#snapshot', '@recycle', '@recently-snapshot'],
  ...['$recycle.bin', 'recycler', 'recycled', 'system volume information', 'lost+found', '__macosx'],
  ...['network trash folder', 'temporary items'],
]);

/** Whether a folder of that name is not entered by whoever lists the one that it is in. */
export const isPassedOver = (name: string): boolean => isHidden(name) || keptBySystems.has(name.toLowerCase());
