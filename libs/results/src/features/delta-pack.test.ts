import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ByteWriter } from 'hyparquet-writer';
import { deltaBinaryPack } from 'hyparquet-writer/src/delta.js';
import { deltaPack, deltaPackedBytes } from './delta-pack.ts';

const count = fc.oneof(fc.nat(9), fc.nat(5000), fc.nat({ max: 2 ** 31 - 1 }), fc.constant(2 ** 31 - 1), fc.constant(0));

test('counts are packed as hyparquet-writer packs them, for int32 and for int64, in the promised room', () => {
  fc.assert(
    fc.property(fc.array(count, { minLength: 1, maxLength: 600 }), fc.nat(3), (counts, at) => {
      const bytes = new Uint8Array(at + deltaPackedBytes(counts.length));
      const end = deltaPack(Float64Array.from(counts), counts.length, new DataView(bytes.buffer), at);
      for (const type of ['INT32', 'INT64'] as const) {
        const expected = new ByteWriter();
        deltaBinaryPack(expected, Int32Array.from(counts), type);
        assert.deepEqual(Buffer.from(bytes.subarray(at, end)), Buffer.from(expected.getBytes()));
      }
    }),
  );
});
