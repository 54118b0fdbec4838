/** How many counts a page has at most, unless one row has more. */
const pageCounts = 2 ** 15;

/** How many rows a page has at most, so that one with few bins does not hold the texts of very many sources. */
const mostPageRows = 2 ** 10;

/** Pages of a row group. */
const groupPages = 8;

/** How many counts a file may have; with more, features.parquet is a folder of files that have at most so many each. */
export interface FileLimits {
  wholeCounts: number;
  partCounts: number;
}

const fileLimits: FileLimits = { wholeCounts: 2 ** 31, partCounts: 2 ** 27 };

/**
 * Which rows of features.parquet are together: a page has those of `pageSources` sources and `pageCells` cells of each, a row group those of
 * `groupSources` and `groupCells`, the first of which are multiples of these numbers. Those of sources are powers of two.
 */
export interface PageLayout {
  /** Rows of a source. */
  cells: number;
  /** Counts of a row. */
  bins: number;
  pageSources: number;
  /** All cells where a page has whole images. */
  pageCells: number;
  groupSources: number;
  groupCells: number;
  /** So many sources of a job are one file; with more, each `partSources` are a file of a folder. */
  wholeSources: number;
  partSources: number;
}

/**
 * The layout for images of `cells` cells with `bins` counts each, both 1 or more. It depends on nothing else, so that pages which are made
 * apart fit into one file. A page has 128 images with 256 bins and one cell; an image with more counts than a page is cut at fixed cells.
 */
export function pageLayout(cells: number, bins: number, limits = fileLimits): PageLayout {
  const pageRows = powerOfTwo(Math.min(mostPageRows, pageCounts / bins));
  const pageCells = Math.min(cells, pageRows);
  const pageSources = powerOfTwo(pageRows / cells);
  const groupSources = pageSources * powerOfTwo(groupPages / Math.ceil(cells / pageCells));
  const groupCells = Math.min(cells, groupPages * pageCells);
  const sourcesOf = (counts: number) => Math.floor(counts / (cells * bins));
  return {
    ...{ cells, bins, pageSources, pageCells, groupSources, groupCells },
    wholeSources: Math.max(1, sourcesOf(limits.wholeCounts)),
    partSources: Math.max(groupSources, powerOfTwo(sourcesOf(limits.partCounts))),
  };
}

/** Where a page begins: the number of its first source, and the first of its cells. */
export interface PagePlace {
  firstSource: number;
  firstCell: number;
}

/** Whether two pages are of the same row group. */
export function areOfOneGroup({ groupSources, groupCells }: PageLayout, one: PagePlace, other: PagePlace): boolean {
  const isSame = (a: number, b: number, size: number) => Math.floor(a / size) === Math.floor(b / size);
  return isSame(one.firstSource, other.firstSource, groupSources) && isSame(one.firstCell, other.firstCell, groupCells);
}

/** How many rows the pages of sources of those numbers, ascending, have, by row group. */
export function cutPages(layout: PageLayout, numbers: Iterable<number>): number[][] {
  const { cells, pageSources, pageCells } = layout;
  const groups: number[][] = [];
  let group: PagePlace | undefined;
  let page: PagePlace | undefined;
  for (const number of numbers) {
    for (let firstCell = 0; firstCell < cells; firstCell += pageCells) {
      const place = { firstSource: number, firstCell };
      const rows = Math.min(pageCells, cells - firstCell);
      const isOfPage =
        page?.firstCell === firstCell &&
        Math.floor(page.firstSource / pageSources) === Math.floor(number / pageSources);
      if (isOfPage) groups.at(-1)![groups.at(-1)!.length - 1]! += rows;
      else {
        page = place;
        if (group && areOfOneGroup(layout, group, place)) groups.at(-1)!.push(rows);
        else {
          group = place;
          groups.push([rows]);
        }
      }
    }
  }
  return groups;
}

/** The largest power of two that is at most `number`; 1 for what is less. */
const powerOfTwo = (number: number): number => 2 ** Math.floor(Math.log2(Math.max(1, number)));
