import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { valueRange } from './value-range.ts';

test('the range is from the first to the last hundredth of the sorted samples, or symmetric about zero', () => {
  const samples = fc.oneof(
    fc.array(fc.float({ noNaN: false }), { maxLength: 400 }).map((values) => Float32Array.from(values)),
    fc.array(fc.integer({ min: -32768, max: 32767 }), { maxLength: 400 }).map((values) => Int16Array.from(values)),
  );
  fc.assert(
    fc.property(samples, (values) => {
      const isValue = (value: number) => Number.isFinite(value) && !(values instanceof Int16Array && value === -32768);
      const sorted = Float32Array.from(values).filter(isValue).sort();
      const range = valueRange(values);
      if (sorted.length === 0) return assert.equal(range, undefined);
      const last = sorted.length - 1;
      let [low, high] = [sorted[Math.floor(last * 0.01)]!, sorted[Math.ceil(last * 0.99)]!];
      if (low === high) [low, high] = [sorted[0]!, sorted[last]!];
      const most = Math.max(-low, high);
      const isBalanced = low < 0 && high > 0 && Math.min(-low, high) >= most / 4;
      // -0 and 0 count as the same value.
      assert.deepEqual([range!.low + 0, range!.high + 0], isBalanced ? [-most, most] : [low + 0, high + 0]);
    }),
  );
});

test('a border of large values does not change the range of the values inside', () => {
  const inside = Array.from({ length: 991 }, (_, i) => 100 + (i % 50));
  assert.deepEqual(valueRange(Float32Array.from([...inside, ...new Array(9).fill(-4000)])), { low: 100, high: 149 });
});

test('if nearly all samples are equal, the others give the range', () => {
  const values = new Float32Array(1000);
  values[7] = 12;
  assert.deepEqual(valueRange(values), { low: 0, high: 12 });
});
