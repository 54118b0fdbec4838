import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import type { ServingCluster } from './cluster.ts';
import { borders, conventions, lbpByDefinition } from './lbp-definition.ts';
import { drawPicture, writePgm } from './picture-files.ts';
import { readMap } from './read-map.ts';
import { readHistogram, readJson } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';
import { sharedCluster } from './shared-cluster.ts';
import { repetitions } from './thorough.ts';

const folder = scratchFolder();
let cluster: ServingCluster;

before(async () => {
  cluster = await sharedCluster();
});
after(() => cluster.stop());

/** In small images borders meet each other; larger ones have tiles with every kind of neighbour. */
const side = fc.oneof(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 70 }));

/** Mostly flat pictures have many equal neighbours, where >= and > differ. */
const picture = fc
  .tuple(side, side, fc.boolean(), fc.integer({ min: 0, max: 1000 }))
  .chain(([width, height, isFlat, seed]) => {
    const drawn = drawPicture(width, height, seed);
    if (!isFlat) return fc.constant(drawn);
    return fc
      .uint8Array({ minLength: width * height, maxLength: width * height, max: 2 })
      .map((pixels) => ({ width, height, pixels }));
  });

test('every image of a job has the histogram and the map of the definition, for any tiles and batches', async () => {
  let jobs = 0;
  const property = fc.asyncProperty(
    fc.array(picture, { minLength: 1, maxLength: 3 }),
    fc.constantFrom(...borders),
    fc.constantFrom(...conventions),
    fc.integer({ min: 0, max: 9 }),
    fc.integer({ min: 0, max: 2 }),
    fc.constantFrom('tiff' as const, 'png' as const),
    async (pictures, border, convention, cuts, batchFrames, map) => {
      // `cuts` is the number of tiles along the longest side, down to tiles of one pixel; 0: the coordinator chooses.
      const longest = Math.max(...pictures.flatMap(({ width, height }) => [width, height]));
      const tilePx = cuts && Math.ceil(longest / cuts);
      const name = String(jobs++);
      const sources = pictures.map((_, i) => join(folder, `${name}-${i}.pgm`));
      await Promise.all(pictures.map((drawn, i) => writePgm(sources[i]!, drawn)));
      const out = join(folder, name);
      await cluster.jobs.run({ sources, out, border, convention, map, tilePx, batchFrames });

      const expected = pictures.map((drawn) => lbpByDefinition(drawn, border, convention));
      for (const [i, { width, height }] of pictures.entries()) {
        const file = join(out, 'maps', `${name}-${i}.${map === 'tiff' ? 'tif' : 'png'}`);
        const { codes, ...size } = await readMap(file);
        assert.deepEqual(size, { width, height });
        assert.deepEqual([...codes], [...expected[i]!.codes]);
      }
      const { bins, counted } = readHistogram(out);
      const sum = (of: (i: number) => number) => pictures.reduce((total, _, i) => total + of(i), 0);
      assert.deepEqual(
        bins,
        bins.map((_, code) => sum((i) => expected[i]!.bins[code]!)),
      );
      assert.equal(
        counted,
        sum((i) => expected[i]!.counted),
      );
      const written = readJson(out, 'job.json').sources.map(({ counted: n }: { counted: number }) => n);
      assert.deepEqual(
        written,
        expected.map((one) => one.counted),
      );
      assert.equal(existsSync(join(out, 'errors.jsonl')), false);
    },
  );
  await fc.assert(property, { numRuns: repetitions('HALOGRID_TEST_RUNS', 12, 60) });
});
