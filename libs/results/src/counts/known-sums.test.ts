import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { binsOfSource, type HistogramShape } from './histogram-shape.ts';
import { knownPipelines, packKnown, readKnown } from './known-sums.ts';

const shape: fc.Arbitrary<HistogramShape> = fc.record({
  grid: fc.record({ rows: fc.integer({ min: 1, max: 3 }), columns: fc.integer({ min: 1, max: 3 }) }),
  channels: fc.integer({ min: 1, max: 4 }),
  bins: fc.nat(9),
});

const known = fc.array(shape).chain((shapes) => {
  const sums = shapes.map((one) => {
    const bins = fc.array(fc.maxSafeNat(), { minLength: binsOfSource(one), maxLength: binsOfSource(one) });
    return fc.option(fc.record({ counted: fc.maxSafeNat(), bins }), { nil: undefined });
  });
  return fc.record({ shapes: fc.constant(shapes), sums: fc.tuple(...sums) });
});

test('known counts are read as they were packed, and other bytes are refused', () => {
  fc.assert(
    fc.property(known, ({ shapes, sums }) => {
      const bytes = packKnown(sums);
      assert.deepEqual(
        knownPipelines(bytes, shapes),
        sums.map((one) => one !== undefined),
      );
      for (const [i, one] of sums.entries()) {
        const read = readKnown(bytes, shapes, i);
        assert.deepEqual(
          read && { counted: read.counted, bins: Array.from(read.bins) },
          one && { counted: one.counted, bins: one.bins },
        );
      }
      assert.throws(() => knownPipelines(Buffer.concat([bytes, Buffer.of(0)]), shapes), RangeError);
      if (bytes.length > 0) assert.throws(() => knownPipelines(bytes.subarray(0, -1), shapes), RangeError);
    }),
  );
});
