import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deflateSync } from 'node:zlib';
import { runs } from '@halogrid/testing';
import fc from 'fast-check';
import { inflateDeflate } from './inflate-deflate.ts';

// Blocks that are not just as they should be go to libvips: what is found here must be right.

const block = fc.record({ length: fc.integer({ min: 1, max: 70_000 }), period: fc.integer({ min: 1, max: 997 }) });
const bytesOf = ({ length, period }: { length: number; period: number }): Buffer =>
  Buffer.from(Uint8Array.from({ length }, (_, i) => Math.imul(i % period, 2654435761) >>> 24));

test('the first bytes of a block are those that were deflated, however many are wanted', async () => {
  await fc.assert(
    fc.asyncProperty(block, fc.nat(70_000), async (made, wanted) => {
      const bytes = bytesOf(made);
      const first = Math.max(1, wanted % (bytes.length + 1));
      const found = await inflateDeflate(deflateSync(bytes), bytes.length, first);
      assert.ok(found && bytes.subarray(0, first).equals(found));
    }),
    { numRuns: runs(200) },
  );
});

test('a block that is cut off, changed, or of another length is not found, or found as it was', async () => {
  await fc.assert(
    fc.asyncProperty(
      block,
      fc.nat(),
      fc.integer({ min: 1, max: 255 }),
      fc.boolean(),
      async (made, at, change, cuts) => {
        const bytes = bytesOf(made);
        const deflated = deflateSync(bytes);
        const place = at % deflated.length;
        if (!cuts) deflated[place]! ^= change;
        const found = await inflateDeflate(cuts ? deflated.subarray(0, place) : deflated, bytes.length, bytes.length);
        assert.ok(found === undefined || (!cuts && bytes.equals(found)));
        assert.equal(await inflateDeflate(deflateSync(bytes), bytes.length + 1, bytes.length + 1), undefined);
        assert.equal(await inflateDeflate(deflateSync(bytes), bytes.length + 2, bytes.length + 1), undefined);
        if (bytes.length > 1) {
          assert.equal(await inflateDeflate(deflateSync(bytes), bytes.length - 1, bytes.length - 1), undefined);
        }
      },
    ),
    { numRuns: runs(200) },
  );
});
