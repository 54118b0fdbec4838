import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Batch, type BatchLimits, FrameGatherer } from './gather-frames.ts';

test('batches hold every frame once and in order, within both limits, and none could take the next frame', () => {
  const limits = fc.record({ maxFrames: fc.integer({ min: 1, max: 5 }), maxBytes: fc.integer({ min: 1, max: 100 }) });
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 150 }), { maxLength: 40 }),
      limits,
      (sizes, { maxFrames, maxBytes }) => {
        const batches = gather(sizes, { maxFrames: (batch) => maxFrames + batch, maxBytes });
        assert.deepEqual(
          batches.flatMap((batch) => batch.frames),
          [...sizes.keys()],
        );
        batches.forEach(({ frames, costBytes }, i) => {
          assert.equal(
            costBytes,
            frames.reduce((sum, frame) => sum + sizes[frame]!, 0),
          );
          assert.ok(frames.length >= 1 && frames.length <= maxFrames + i);
          assert.ok(costBytes <= maxBytes || frames.length === 1);
          const next = batches[i + 1]?.frames[0];
          if (next !== undefined) assert.ok(frames.length === maxFrames + i || costBytes + sizes[next]! > maxBytes);
        });
      },
    ),
  );
});

test('no frames make no batch', () => {
  assert.deepEqual(gather([], { maxFrames: () => 3, maxBytes: 10 }), []);
});

function gather(sizes: number[], limits: BatchLimits): Batch<number>[] {
  const gatherer = new FrameGatherer<number>(limits);
  const closed = sizes.map((bytes, frame) => gatherer.add(frame, bytes));
  return [...closed, gatherer.flush()].filter((batch) => batch !== undefined);
}
