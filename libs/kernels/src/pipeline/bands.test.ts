import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBitPlane, setBit } from '@halogrid/geometry';
import fc from 'fast-check';
import { runCpu } from '../cpu.ts';
import type { AskedOperation } from '../kernel/operation.ts';
import { ParameterError } from '../kernel/parameter-error.ts';
import { runReference } from '../reference.ts';
import { noise } from '../testing/noise.ts';
import { createPipelineOver, samplesOf } from '../testing/staged.ts';
import { tileArbitrary } from '../testing/tile-arbitrary.ts';
import { itemsOfBands, joinBands, ofOneBand, overBands, planesRead } from './bands.ts';
import { createPipeline, describePipeline } from './pipeline.ts';
import { excludeShared, placeSharedItem, planPipelines } from './shared-plan.ts';

// The only test that joins results of bands for every kernel, pixel type, cut, grid and NoData; files and devices are
// compared in gpu-node.

const pipelines: AskedOperation[][] = [
  [{ kernel: 'lbp', parameters: {} }],
  [{ kernel: 'ldp', parameters: { order: '2' } }],
  [{ kernel: 'conv', parameters: { kernel: 'sobel' } }],
  [{ kernel: 'glcm', parameters: { levels: '8', offsets: '1@0+1@45', symmetric: 'true' } }],
  [
    { kernel: 'conv', parameters: { kernel: 'gaussian-3', as: 'u8' } },
    { kernel: 'lbp', parameters: { labels: 'var' } },
  ],
];

test('several bands of a tile have the counts and codes of each band, one band after another', () => {
  const given = fc.record({
    operations: fc.constantFrom(...pipelines),
    pixel: fc.constantFrom('u8', 'u16'),
    bands: fc.uniqueArray(fc.integer({ min: 1, max: 9 }), { minLength: 2, maxLength: 4 }),
    grid: fc.record({ rows: fc.integer({ min: 1, max: 3 }), columns: fc.integer({ min: 1, max: 3 }) }),
    place: tileArbitrary(40, 30),
    without: fc.array(fc.tuple(fc.nat(3), fc.nat(), fc.nat()), { maxLength: 3 }),
    run: fc.constantFrom(runCpu, runReference),
  });
  fc.assert(
    fc.property(given, ({ operations, pixel, bands, grid, place, without, run }) => {
      const pipeline = overBands(bands, createPipelineOver(pixel, operations));
      assert.equal(planesRead(pipeline), bands.length);
      const plan = planPipelines([pipeline], place.tile, place.size, grid);
      const unit = pixel === 'u8' ? 1 : 2;
      const { item: shared, end } = placeSharedItem(plan, bands.length, 0, unit);
      const bytes = noise(end, place.seed);
      const planes = bands.map(() => createBitPlane(plan.stored));
      for (const [band, x, y] of without)
        setBit(planes[band % bands.length]!, x % plan.stored.width, y % plan.stored.height);
      excludeShared([pipeline], plan, shared, { noData: planes });
      const one = ofOneBand(pipeline);
      assert.deepEqual(one.output, createPipeline(operations).output);

      const found = joinBands(
        pipeline,
        itemsOfBands(pipeline, shared.items[0]!).map((item) => run(one, bytes, item, true)),
      );
      const channels = one.output.channels.length;
      const cells = plan.plans[0]!.cells.length;
      const samples = samplesOf(pipeline, found, place.tile);
      for (const [band] of bands.entries()) {
        const { item: alone } = placeSharedItem(plan, 1, 0, unit);
        const own = bytes.slice(shared.offset + band * shared.planeBytes).subarray(0, shared.planeBytes);
        const single = new Uint8Array(end);
        single.set(own, alone.offset);
        excludeShared([one], plan, alone, { noData: [planes[band]!] });
        const expected = run(one, single, alone.items[0]!, true);
        if (band === 0) assert.equal(found.counted, expected.counted);
        const ofBand = channels * one.bins;
        for (let cell = 0; cell < cells; cell++) {
          const from = (cell * bands.length + band) * ofBand;
          const counts = expected.bins.subarray(cell * ofBand, (cell + 1) * ofBand);
          assert.deepEqual(found.bins.subarray(from, from + ofBand), counts);
        }
        const wanted = samplesOf(one, expected, place.tile);
        assert.deepEqual(samples.subarray(band * wanted.length, (band + 1) * wanted.length), wanted);
      }
    }),
    { numRuns: 150 },
  );
});

test('channels are named after their bands, a single band is the pipeline itself, and colours have no bands', () => {
  const lbp = createPipeline([{ kernel: 'lbp', parameters: {} }]);
  assert.equal(overBands([3], lbp), lbp);
  assert.equal(overBands([], lbp), lbp);
  assert.deepEqual(overBands([2, 4], lbp).output.channels, ['band 2', 'band 4']);
  assert.match(overBands([2, 4], lbp).words.channels[1]!, / of band 4$/);
  assert.match(describePipeline(overBands([4, 2], lbp)), / bands=4,2$/);
  const colours = createPipeline([{ kernel: 'conv', parameters: { kernel: 'sobel', channels: 'rgb' } }]);
  assert.throws(() => overBands([2, 4], colours), ParameterError);
  const ldp = overBands([2, 4], createPipeline([{ kernel: 'ldp', parameters: {} }]));
  const degrees = ['0', '45', '90', '135'];
  assert.deepEqual(
    ldp.output.channels,
    ['band 2', 'band 4'].flatMap((band) => degrees.map((name) => `${band}, ${name}`)),
  );
});
