import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { AttachRequest } from '../gen/halogrid/v1/nodes.ts';
import { excessOf, reportBounds } from '../limits/message-bounds.ts';
import { FrameTableError, frameOutline, noZone, readFrameTable, type TabledFrame } from './frame-table.ts';
import { joinCounts } from './join-counts.ts';
import { type FoundResult, splitAnswer } from './split-answer.ts';

const lease = { jobId: 'j', shard: 3, attempt: 2, epoch: 5 };
const rest = { errors: [], stageSeconds: {}, busySeconds: {}, inputBytes: 4 };

/** What comes off the wire of an answer of those frames. */
function sent(frames: readonly TabledFrame[], most?: number) {
  const results = frames.flatMap(({ width, height, captured, parts }, source) =>
    parts.map(({ counted, bins }, pipeline): FoundResult => {
      const own = { source, width, height, rect: undefined, counted, bins: Uint32Array.from(bins) };
      return pipeline > 0 ? { ...own, pipeline } : { ...own, ...(captured && { captured }) };
    }),
  );
  const answer = { ...lease, ...rest, results, areFrames: true };
  const reports = [...splitAnswer(answer, most)].map((report) => {
    assert.equal(excessOf({ report }, reportBounds), undefined);
    return AttachRequest.decode(AttachRequest.encode({ report }).finish()).report!;
  });
  const counts = reports.flatMap(({ value }) => ('counts' in value && value.counts ? [value.counts] : []));
  const last = reports.at(-1)!;
  assert.ok(last.$case === 'completed' && last.value.results.length === 0);
  return { table: last.value.frames!, counts };
}

const size = fc.oneof(fc.constant(9), fc.integer({ min: 1, max: 2 ** 32 - 1 }));
const captured = fc.option(
  fc.record(
    { localMs: fc.integer({ min: -(2 ** 45), max: 2 ** 48 }), offsetMinutes: fc.integer({ min: -1080, max: 1080 }) },
    { requiredKeys: ['localMs'], noNullPrototype: true },
  ),
  { nil: undefined },
);
const plain = { noNullPrototype: true };
const counted = fc.oneof(fc.constant(63), fc.nat(Number.MAX_SAFE_INTEGER));
const part = fc.record({ counted, bins: fc.array(fc.nat(2 ** 32 - 1), { maxLength: 6 }) }, plain);
const framesOf = (pipelines: number) => {
  const parts = fc.array(part, { minLength: pipelines, maxLength: pipelines });
  return fc.array(fc.record({ width: size, height: size, captured, parts }, plain), { maxLength: 12 });
};
const someFrames = fc.integer({ min: 1, max: 3 }).chain(framesOf);

test('what is said of frames is the same once it is read again, and their counts are by pipeline', () => {
  fc.assert(
    fc.property(someFrames, fc.integer({ min: 5, max: 40 }), (frames, most) => {
      const { table, counts } = sent(frames, most);
      const { widths, heights, parts, captured: times } = readFrameTable(table, counts);
      const lengths = parts.flatMap(({ binCounts }) => [...binCounts]);
      const bins = joinCounts(counts, lengths);
      const read = Array.from(widths, (width, i): TabledFrame => {
        const localMs = times?.localMs[i] ?? Number.NaN;
        const offsetMinutes = times?.offsetMinutes[i] ?? noZone;
        const zone = offsetMinutes === noZone ? {} : { offsetMinutes };
        const own = parts.map(({ counted }, part) => {
          return { counted: counted[i]!, bins: [...bins[part * frames.length + i]!] };
        });
        return {
          ...{ width, height: heights[i]!, parts: own },
          captured: Number.isNaN(localMs) ? undefined : { localMs, ...zone },
        };
      });
      assert.deepEqual(read, frames);
    }),
  );
});

test('the outline is the number of frames and their pixels, and sizes that are none are refused', () => {
  const frame = { width: 40, height: 30, parts: [{ counted: 1, bins: [1] }] };
  const { table } = sent([frame, { ...frame, height: 31 }, { ...frame, height: 31 }]);
  assert.deepEqual(frameOutline(table), { frames: 3, pixels: 40 * (30 + 31 + 31) });
  assert.deepEqual(frameOutline(sent([]).table), { frames: 0, pixels: 0 });
  const large = sent([{ ...frame, width: 2 ** 32 - 1, height: 2 ** 32 - 1 }]).table;
  assert.throws(() => frameOutline(large), FrameTableError);
});

test('a table of usual frames takes some bytes, however many they are', () => {
  const frame = { width: 1920, height: 1080, parts: [{ counted: 1918 * 1078, bins: new Uint32Array(256) }] };
  assert.ok(sent(Array.from({ length: 2048 }, () => frame)).table.length < 30);
});

test('an answer of which any byte is another, missing or one too many is refused', () => {
  const change = fc.record({ at: fc.nat(), bit: fc.nat(7), how: fc.constantFrom('flip', 'cut', 'add', 'swap') });
  fc.assert(
    fc.property(someFrames, change, fc.integer({ min: 5, max: 40 }), (frames, { at, bit, how }, most) => {
      const { table, counts } = sent(frames, most);
      const blocks = [table, ...counts];
      const which = at % blocks.length;
      const bytes = blocks[which]!;
      const place = at % Math.max(1, bytes.length);
      const flipped = Uint8Array.from(bytes, (byte, i) => (i === place ? byte ^ (1 << bit) : byte));
      const changed = {
        flip: flipped,
        cut: bytes.subarray(0, place),
        add: Uint8Array.of(...bytes, at & 0xff),
        swap: blocks[(which + 1) % blocks.length]!,
      }[how];
      if (Buffer.compare(changed, bytes) === 0) return;
      const [first, ...others] = blocks.with(which, changed) as [Uint8Array, ...Uint8Array[]];
      assert.throws(() => readFrameTable(first, others), FrameTableError);
    }),
  );
});

test('bytes that are no table are refused with a sentence, before they take memory', () => {
  const table: [numbers: number[], sentence: RegExp][] = [
    [[], /ends early/],
    [[1, 1, 1], /ends early/],
    [[0xff, 0xff, 0xff, 0xff, 0x0f, 1], /at most 65536 frames of 8 pipelines but received 4294967295 of 1/],
    [[1, 9], /at most 65536 frames of 8 pipelines but received 1 of 9/],
    [[2, 1, 3, 9, 7], /2 frames in a column but not 3/],
    [[2, 1, 0, 9, 7], /2 frames in a column but not 0/],
    [[1, 1, 1, ...Array(8).fill(0xff), 1], /below 2\^53/],
    [[1, 1, 1, 0x80, 0x80, 0x80, 0x80, 0x10, 7], /sizes below 2\^32 but received 4294967296/],
  ];
  for (const [numbers, message] of table) {
    const bytes = Uint8Array.of(0, 0, 0, 0, ...numbers);
    assert.throws(() => frameOutline(bytes), { name: 'FrameTableError', message });
  }
  assert.throws(() => frameOutline(Uint8Array.of(1, 2)), { name: 'FrameTableError', message: /ends early/ });
});
