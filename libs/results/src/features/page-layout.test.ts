import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { pageLayout } from './page-layout.ts';

test('pages and row groups follow from cells and bins', () => {
  // Cells, bins; sources and cells of a page, of a row group; sources of a whole file and of a part.
  const table = [
    [1, 256, 128, 1, 1024, 1, 8_388_608, 524_288],
    [1, 59, 512, 1, 4096, 1, 36_398_027, 2_097_152],
    [1, 10, 1024, 1, 8192, 1, 214_748_364, 8_388_608],
    [1, 1024, 32, 1, 256, 1, 2_097_152, 131_072],
    [6, 256, 16, 6, 128, 6, 1_398_101, 65_536],
    [144, 59, 2, 144, 16, 144, 252_764, 8192],
    // An image has three pages, and two are a row group.
    [300, 256, 1, 128, 2, 300, 27_962, 1024],
    // An image has 2048 pages.
    [65_536, 1024, 1, 32, 1, 256, 32, 2],
    // A row has more counts than a page.
    [1, 262_144, 1, 1, 8, 1, 8192, 512],
    [256, 262_144, 1, 1, 1, 8, 32, 2],
  ];
  for (const [cells, bins, ...expected] of table) {
    const layout = pageLayout(cells!, bins!);
    const { pageSources, pageCells, groupSources, groupCells, wholeSources, partSources } = layout;
    const found = [pageSources, pageCells, groupSources, groupCells, wholeSources, partSources];
    assert.deepEqual(found, expected, `${cells} x ${bins}`);
  }
});

test('pages have few counts and rows, and fill row groups, and these fill files', () => {
  const size = (most: number) => fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: most }));
  const limits = fc.record({ wholeCounts: size(2 ** 40), partCounts: size(2 ** 30) });
  fc.assert(
    fc.property(size(2 ** 20), size(2 ** 18), fc.option(limits, { nil: undefined }), (cells, bins, given) => {
      const { pageSources, pageCells, groupSources, groupCells, partSources } = pageLayout(cells, bins, given);
      const pageRows = pageSources * pageCells;
      assert.ok(pageRows === 1 || (pageRows * bins <= 2 ** 15 && pageRows <= 2 ** 10));
      for (const sources of [pageSources, groupSources, partSources]) assert.equal(Math.log2(sources) % 1, 0);
      assert.ok(groupSources % pageSources === 0 && partSources % groupSources === 0);
      // Images are cut only if a page is smaller than an image.
      assert.ok(pageCells === cells || (pageSources === 1 && pageCells < cells));
      assert.ok(groupCells === cells || (groupSources === 1 && groupCells === 8 * pageCells));
      assert.ok((groupSources / pageSources) * Math.ceil(groupCells / pageCells) <= 8);
    }),
  );
});
