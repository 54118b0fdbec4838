import { ownBytes } from '../files/own-bytes.ts';
import { type EncodedGroup, encodeGroup } from './encode-group.ts';
import { featureSchema, type PlacedPage } from './encode-page.ts';
import { areOfOneGroup, type PageLayout } from './page-layout.ts';
import { RowGroups } from './row-groups.ts';

/** A row group of features.parquet. A thread can pass it to another. */
export interface FeatureGroup extends EncodedGroup {
  /** The number of the first source in the first page, and of the first source in the last page. */
  firstSource: number;
  lastSource: number;
  /** Whether `histogram` must be int64 in its file. */
  isWide: boolean;
}

/** Makes row groups of pages, which come in the order of their sources. Holds one row group. */
export class FeatureGroups {
  readonly #pages: RowGroups<PlacedPage>;
  readonly #schema: ReturnType<typeof featureSchema>;

  constructor(layout: PageLayout) {
    this.#schema = featureSchema(false, layout.statistics);
    this.#pages = new RowGroups(([first], page) => areOfOneGroup(layout, first!, page));
  }

  /** Adds the next page. Returns the row group that ended before it, if any. */
  add(page: PlacedPage): FeatureGroup | undefined {
    return groupOf(this.#schema, this.#pages.add(page));
  }

  /** Ends the row group; undefined if it has no pages. */
  end(): FeatureGroup | undefined {
    return groupOf(this.#schema, this.#pages.end());
  }
}

function groupOf(schema: ReturnType<typeof featureSchema>, pages: readonly PlacedPage[]): FeatureGroup | undefined {
  if (pages.length === 0) return undefined;
  const { group, pieces } = encodeGroup(schema, pages);
  return {
    group,
    pieces: [ownBytes(pieces)],
    firstSource: pages[0]!.firstSource,
    lastSource: pages.at(-1)!.firstSource,
    isWide: pages.some(({ isWide }) => isWide),
  };
}
