import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstOf, indexesOf } from '@halogrid/jobs/planned-sources';
import fc from 'fast-check';
import { type BatchLimits, FrameGatherer, type GatheredFrames } from './gather-frames.ts';

test('batches hold every frame once and in order, within both limits, and none could take the next frame', () => {
  const limits = fc.record({ maxFrames: fc.integer({ min: 1, max: 5 }), maxBytes: fc.integer({ min: 1, max: 100 }) });
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 150 }), { maxLength: 40 }),
      limits,
      (sizes, { maxFrames, maxBytes }) => {
        const batches = gather(sizes, { maxFrames: (batch) => maxFrames + batch, maxBytes });
        assert.deepEqual(batches.flatMap(indexesOf), [...sizes.keys()]);
        batches.forEach(({ sources, costBytes }, i) => {
          const frames = indexesOf({ sources });
          assert.equal(
            costBytes,
            frames.reduce((sum, frame) => sum + sizes[frame]!, 0),
          );
          assert.ok(frames.length >= 1 && frames.length <= maxFrames + i);
          assert.ok(costBytes <= maxBytes || frames.length === 1);
          const next = batches[i + 1] && firstOf(batches[i + 1]!.sources);
          if (next !== undefined) assert.ok(frames.length === maxFrames + i || costBytes + sizes[next]! > maxBytes);
        });
      },
    ),
  );
});

test('no frames make no batch', () => {
  assert.deepEqual(gather([], { maxFrames: () => 3, maxBytes: 10 }), []);
});

function gather(sizes: number[], limits: BatchLimits): GatheredFrames[] {
  const gatherer = new FrameGatherer(limits);
  const closed = sizes.map((bytes, index) => {
    return gatherer.add({ index, uri: `file:///${index}`, name: '', sizeBytes: 0 }, bytes);
  });
  return [...closed, gatherer.flush()].filter((batch) => batch !== undefined);
}
