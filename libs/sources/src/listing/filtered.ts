import type { PathFilter } from '../globs/path-filter.ts';
import type { Selection } from '../globs/selection.ts';
import type { WalkOptions } from './walk-folder.ts';

/** How a source is listed. */
export interface ListingOptions extends WalkOptions {
  filter?: PathFilter | undefined;
  /** The column of Parquet files that has images; undefined: the only one that may. */
  column?: string | undefined;
}

/** The selection without what the filter leaves out. */
export const filtered = (selection: Selection, filter: PathFilter | undefined): Selection =>
  filter ? filter.within(selection) : selection;

/** Whether a file or an entry of a manifest counts, by the filter. It is reported if it does not. */
export function takesPath(path: string, { filter, onPassedOver }: ListingOptions): boolean {
  if (!filter || filter.takes(path)) return true;
  onPassedOver?.({ path, isFolder: false, isFiltered: true });
  return false;
}
