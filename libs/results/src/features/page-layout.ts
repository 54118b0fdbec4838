/** The most counts of a page, unless one row has more. */
const pageCounts = 2 ** 15;

/** The most rows of a page, so that a page with few bins does not hold the texts of very many sources. */
const mostPageRows = 2 ** 10;

/** Pages of a row group. */
const groupPages = 8;

/**
 * How many counts files may have. With more than `wholeCounts`, features.parquet is a folder of files with at most
 * `partCounts` each.
 */
export interface FileLimits {
  wholeCounts: number;
  partCounts: number;
}

const fileLimits: FileLimits = { wholeCounts: 2 ** 31, partCounts: 2 ** 27 };

/**
 * Which rows of features.parquet are together. A page has `pageSources` sources and `pageCells` cells of each; a row
 * group has `groupSources` and `groupCells`. Each begins at a source and a cell whose numbers are multiples of these.
 * The numbers of sources are powers of two.
 */
export interface PageLayout {
  /** Rows of a source. */
  cells: number;
  /** Counts of a row. */
  bins: number;
  /** The names of columns of statistics. */
  statistics: readonly string[];
  pageSources: number;
  /** The number of all cells, if a page has whole images. */
  pageCells: number;
  groupSources: number;
  groupCells: number;
  /** The most sources of a job that are one file. With more, every `partSources` sources are a file of a folder. */
  wholeSources: number;
  partSources: number;
}

/**
 * The layout for images of `cells` cells with `bins` counts each, both 1 or more, and with columns of statistics. It
 * depends on nothing else, so pages that are made separately fit into one file. With 256 bins and one cell, a page has
 * 128 images. An image with more counts than a page is cut at fixed cells.
 */
export function pageLayout(
  cells: number,
  bins: number,
  limits = fileLimits,
  statistics: readonly string[] = [],
): PageLayout {
  const pageRows = powerOfTwo(Math.min(mostPageRows, pageCounts / bins));
  const pageCells = Math.min(cells, pageRows);
  const pageSources = powerOfTwo(pageRows / cells);
  const groupSources = pageSources * powerOfTwo(groupPages / Math.ceil(cells / pageCells));
  const groupCells = Math.min(cells, groupPages * pageCells);
  const sourcesOf = (counts: number) => Math.floor(counts / (cells * bins));
  return {
    cells,
    bins,
    statistics,
    pageSources,
    pageCells,
    groupSources,
    groupCells,
    wholeSources: Math.max(1, sourcesOf(limits.wholeCounts)),
    partSources: Math.max(groupSources, powerOfTwo(sourcesOf(limits.partCounts))),
  };
}

/** Where a page begins: the number of its first source, and the first of its cells. */
export interface PagePlace {
  firstSource: number;
  firstCell: number;
}

/** Whether two pages belong to the same row group. */
export function areOfOneGroup({ groupSources, groupCells }: PageLayout, one: PagePlace, other: PagePlace): boolean {
  const isSame = (a: number, b: number, size: number) => Math.floor(a / size) === Math.floor(b / size);
  return isSame(one.firstSource, other.firstSource, groupSources) && isSame(one.firstCell, other.firstCell, groupCells);
}

/** How many rows each page has, by row group, if a file has the sources with these ascending numbers. */
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

/** The largest power of two that is at most `number`; 1 for a number below 1. */
const powerOfTwo = (number: number): number => 2 ** Math.floor(Math.log2(Math.max(1, number)));
