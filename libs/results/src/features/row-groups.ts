/** Gathers the pages of a file until they are a row group. Holds the pages of one row group. */
export class RowGroups<Page> {
  readonly #isOfGroup: (group: readonly Page[], page: Page) => boolean;
  #pages: Page[] = [];

  /** `isOfGroup` says whether a page belongs to the row group of the pages before it, one or more. */
  constructor(isOfGroup: (group: readonly Page[], page: Page) => boolean) {
    this.#isOfGroup = isOfGroup;
  }

  /** Adds the next page. Returns the pages of the row group that ended before it; empty if none ended. */
  add(page: Page): Page[] {
    const ended = this.#pages.length === 0 || this.#isOfGroup(this.#pages, page) ? [] : this.end();
    this.#pages.push(page);
    return ended;
  }

  /** Ends the row group and returns its pages, if any. */
  end(): Page[] {
    const pages = this.#pages;
    this.#pages = [];
    return pages;
  }
}
