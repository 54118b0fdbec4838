import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { FeatureReader } from '@halogrid/results/feature-reader';
import type { ServingCluster } from './cluster.ts';
import { lbpByDefinition } from './lbp-definition.ts';
import { drawPicture, writePgm } from './picture-files.ts';
import { readHistogram, readJson } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';
import { sharedCluster } from './shared-cluster.ts';

// Results with more bins than fit into a message: a histogram for each block of 8 x 8 pixels. A quarter of a 4K frame
// has as many bins.

const size = { width: 1056, height: 1024 };
const blockPx = 8;
const grid = { rows: size.height / blockPx, columns: size.width / blockPx };
assert.ok(grid.rows * grid.columns * 256 > 2 ** 22);

const folder = scratchFolder();
const source = join(folder, 'picture.pgm');
const picture = drawPicture(size.width, size.height);
let cluster: ServingCluster;
before(async () => {
  await writePgm(source, picture);
  cluster = await sharedCluster();
});
after(() => cluster.stop());

/** Counts of each block by the definition, from the codes of the whole image. */
function blocksByDefinition(): { counted: number; bins: Uint16Array }[] {
  const { codes } = lbpByDefinition(picture, 'interior', 'nw-cw-msb');
  const blocks = Array.from({ length: grid.rows * grid.columns }, () => ({ counted: 0, bins: new Uint16Array(256) }));
  for (let y = 1; y + 1 < size.height; y++) {
    for (let x = 1; x + 1 < size.width; x++) {
      const block = blocks[Math.floor(y / blockPx) * grid.columns + Math.floor(x / blockPx)]!;
      block.counted++;
      block.bins[codes[y * size.width + x]!]!++;
    }
  }
  return blocks;
}

test('an image with millions of bins gives the bins of the definition: whole, in tiles, and kept from an earlier run', async () => {
  const expected = blocksByDefinition();
  const digests = new Set<string>();
  const run = async (out: string, tilePx: number): Promise<void> => {
    const { digest } = await cluster.jobs.run({ sources: [source], out, grid, tilePx });
    digests.add(digest);
    const reader = (await FeatureReader.open(join(out, 'features.parquet')))!;
    assert.equal(reader.rows, expected.length);
    let row = 0;
    for (let group = 0; group < reader.rowGroups; group++) {
      const { cellRow, cellColumn, counted, histogram } = await reader.columns(group, 256);
      for (let i = 0; i < cellRow.length; i++, row++) {
        const block = expected[row]!;
        assert.deepEqual([cellRow[i], cellColumn[i]], [Math.floor(row / grid.columns), row % grid.columns]);
        assert.equal(counted[i], block.counted);
        const bins = histogram.subarray(256 * i, 256 * (i + 1));
        assert.ok(
          block.bins.every((count, bin) => bins[bin] === count),
          `block ${row}`,
        );
      }
    }
    const { bins, counted } = lbpByDefinition(picture, 'interior', 'nw-cw-msb');
    assert.deepEqual(readHistogram(out), { bins, counted });
  };
  const whole = join(folder, 'whole');
  const tiled = join(folder, 'tiled');
  await run(whole, 4096);
  await run(tiled, 500);
  assert.equal(readJson(tiled, 'job.json').counts.shards, 9);
  await run(tiled, 500);
  const { incremental, counts } = readJson(tiled, 'job.json');
  assert.deepEqual([incremental.kept, counts.shards], [1, 0]);
  assert.equal(digests.size, 1);
});
