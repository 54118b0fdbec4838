import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomSource } from '@halogrid/imaging/testing-codes';
import type { JpegFrame } from '../frame/jpeg-frame.ts';
import { readJpegFrame } from '../frame/read-frame.ts';
import { settleInAnyOrder } from '../testing/settle-in-any-order.ts';
import { writeJpeg } from '../testing/write-jpeg.ts';
import { destuff } from './destuff.ts';
import { synchronise } from './synchronise.ts';

test('passes settle on the same result for every order of workgroups, lanes and writes', () => {
  // Several groups of chunks, with common blocks, and with blocks without an end, in which guesses fall into step late
  // or never.
  const made = { width: 150, height: 120, restartMcus: 0, quantiser: 4, sharesTables: false };
  for (const [density, bits, seed] of [
    [100, 5, 622704135],
    [60, 4, 2],
    [30, 6, 3],
  ] as const) {
    const jpeg = writeJpeg({
      ...made,
      density,
      bits,
      seed,
      samplings: [
        [1, 2],
        [1, 1],
        [1, 1],
      ],
    });
    const frame = readJpegFrame(jpeg) as JpegFrame;
    const { chunks, last } = destuff(jpeg.subarray(frame.dataStart));
    const live = chunks.slice(0, last + 1);
    assert.ok(live.length > 128, 'more than one group');
    const { decoded } = synchronise(frame, live);
    for (let order = 1; order <= 3; order++) {
      assert.deepEqual(
        settleInAnyOrder(frame, live, randomSource(order)),
        decoded,
        `density ${density}, order ${order}`,
      );
    }
  }
});
