/** Gathers the pages of a file until they are a row group. Holds those of one. */
export class RowGroups<Page> {
  readonly #isOfGroup: (group: readonly Page[], page: Page) => boolean;
  #pages: Page[] = [];

  /** `isOfGroup` says whether a page is of the row group of the pages before it, one or more. */
  constructor(isOfGroup: (group: readonly Page[], page: Page) => boolean) {
    this.#isOfGroup = isOfGroup;
  }

  /** The next page. Returns the row group that has ended before it; none where it is of the same. */
  add(page: Page): Page[] {
    const ended = this.#pages.length === 0 || this.#isOfGroup(this.#pages, page) ? [] : this.end();
    this.#pages.push(page);
    return ended;
  }

  /** Ends the row group, and returns its pages: none where none was added. */
  end(): Page[] {
    const pages = this.#pages;
    this.#pages = [];
    return pages;
  }
}
