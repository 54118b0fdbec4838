import { type EncodedGroup, encodeGroup, type RowsPage } from '../features/encode-group.ts';
import { RowGroups } from '../features/row-groups.ts';
import { ownBytes } from '../files/own-bytes.ts';
import type { SourceLine } from './source-line.ts';
import type { SourceList } from './source-list.ts';
import { groupPages, pageRows, SourcePages, sourceSchema } from './source-pages.ts';

/** How many sources a row group has, except the last. */
export const groupRows = pageRows * groupPages;

/** Makes row groups of sources.parquet from sources, in order. Holds one row group. */
export class SourceGroups {
  readonly #pages = new SourcePages();
  readonly #groups = new RowGroups<RowsPage>((group) => group.length < groupPages);

  /** Adds the next source. Returns the row group that ended, if any. */
  add(line: SourceLine): EncodedGroup | undefined {
    const page = this.#pages.add(line);
    return page && groupOf(this.#groups.add(page));
  }

  /** Ends the list. Returns the last row groups, up to two. */
  end(): EncodedGroup[] {
    const page = this.#pages.end();
    const ended = [page && groupOf(this.#groups.add(page)), groupOf(this.#groups.end())];
    return ended.filter((group) => group !== undefined);
  }
}

/** Makes row groups of the sources in a list from number `from` up to `to`, which is left out. */
export async function groupsOfList(list: SourceList, from: number, to: number): Promise<EncodedGroup[]> {
  const rows = new SourceGroups();
  const groups: EncodedGroup[] = [];
  let left = to - from;
  for await (const line of list.lines(from)) {
    const group = rows.add(line);
    if (group) groups.push(group);
    if (--left === 0) break;
  }
  return [...groups, ...rows.end()];
}

/** Makes a row group, in a buffer that can be transferred to another thread. */
function groupOf(pages: readonly RowsPage[]): EncodedGroup | undefined {
  if (pages.length === 0) return undefined;
  const { group, pieces } = encodeGroup(sourceSchema, pages);
  return { group, pieces: [ownBytes(pieces)] };
}
