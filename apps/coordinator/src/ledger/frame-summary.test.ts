import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HistogramShape } from '@halogrid/results/histogram-shape';
import { sourceDigest } from '@halogrid/results/source-digest';
import type { ShardWork, SourceResult } from '../job/shard.ts';
import { FrameRows } from '../log/frame-rows.ts';
import { foundFrames } from '../testing/found-frames.ts';
import { plannedSources } from '../testing/planned.ts';
import { framesWithout } from './check-answer.ts';
import { type FrameOrder, type PartSummary, summarise } from './frame-summary.ts';

const shape: HistogramShape = { grid: { rows: 1, columns: 1 }, channels: 1, bins: 4 };
const rect = { x: 0, y: 0, width: 3, height: 2 };
const size = { width: 3, height: 2 };

function resultOf(source: number, bins: number[], more: Partial<SourceResult> = {}): SourceResult {
  return { source, size, rect, counted: bins.reduce((sum, count) => sum + count, 0), bins, ...more };
}

/** The frames of sources 5, 6 and 9. */
function orderOf(results: SourceResult[], more: Partial<FrameOrder> = {}): FrameOrder {
  const { table, counts } = foundFrames(results);
  return { shapes: [shape], runs: Float64Array.of(5, 2, 9, 1), keepsTimes: true, table, counts, ...more };
}

const right = [
  resultOf(5, [1, 2, 0, 3]),
  resultOf(6, [0, 0, 6, 0]),
  resultOf(
    9,
    [200, 0, 0, 0].map(() => 1),
  ),
];

function rowsOf({ stored, countsBytes }: PartSummary, isTimed: boolean): FrameRows {
  return new FrameRows(right.length, isTimed, stored.slice(countsBytes));
}

test('of frames are kept their counts, where each has them, their sums and their digests', () => {
  const { parts, isTimed } = summarise(orderOf(right));
  const [part] = parts as [PartSummary];
  assert.deepEqual([isTimed, part.counted, [...part.sums]], [false, 16n, [2n, 3n, 7n, 4n]]);
  assert.deepEqual(
    [...part.stored.subarray(0, part.countsBytes)],
    right.flatMap(({ bins }) => Array.from(bins)),
  );
  const rows = rowsOf(part, false);
  for (const [row, { counted, bins }] of right.entries()) {
    assert.deepEqual(rows.settled(row), {
      ...{ state: 'done', size, counted },
      digest: new Uint8Array(sourceDigest(size, counted, bins)),
    });
    assert.deepEqual([rows.place(row, 100).offset, rows.place(row, 100).length], [100 + 4 * row, 4]);
  }
});

test('each of several pipelines has its own, and times are those of the first', () => {
  const captured = { localMs: 86_400_000, offsetMinutes: -90 };
  const first = right.map((result, i) => (i === 1 ? { ...result, captured } : result));
  const second = right.map((result) => ({ ...result, counted: 1, bins: [0, 0, 0, 1], pipeline: 1 }));
  const results = first.flatMap((result, i) => [result, second[i]!]);
  const { parts, isTimed } = summarise(orderOf(results, { shapes: [shape, shape] }));
  assert.deepEqual(
    parts.map(({ counted, sums }) => [counted, [...sums]]),
    [
      [16n, [2n, 3n, 7n, 4n]],
      [3n, [0n, 0n, 0n, 3n]],
    ],
  );
  assert.equal(isTimed, true);
  const rows = rowsOf(parts[0]!, true);
  assert.deepEqual([rows.captured(0), rows.captured(1)], [undefined, captured]);
  assert.equal(summarise(orderOf(results, { shapes: [shape, shape], keepsTimes: false })).isTimed, false);
});

test('what cannot be right is refused with a sentence, which names the input', () => {
  const { table, counts } = foundFrames(right);
  const of = (source: number, change: Partial<SourceResult>) =>
    orderOf(right.map((result) => (result.source === source ? { ...result, ...change } : result)));
  const refusals: [what: FrameOrder, sentence: RegExp][] = [
    [orderOf(right.slice(1)), /^There are results of 2 sources instead of 3$/],
    [orderOf(right, { shapes: [shape, shape] }), /^There are results of 1 pipelines instead of 2$/],
    [of(6, { bins: [0, 0, 6] }), /^The result of source 6 has 3 bins instead of 4$/],
    [of(9, { bins: [1, 1, 1, 1, 0] }), /^The result of source 9 has 5 bins instead of 4$/],
    [of(9, { counted: 5 }), /^The result of source 9 counts 5 pixels but its bins hold 4$/],
    [of(6, { counted: 7, bins: [7, 0, 0, 0] }), /^The result of source 6 counts 7 of 6 pixels$/],
    [of(5, { size: { width: 0, height: 2 } }), /^The result of source 5 has 0 x 2 pixels$/],
    [of(9, { captured: { localMs: 2 ** 50 } }), /^The result of source 9 has a capture time that is none$/],
    [orderOf(right, { counts: [counts[0]!.subarray(1)] }), /^Expected the table of frames and the counts/],
    [orderOf(right, { counts: [...counts, Uint8Array.of(1)] }), /^Expected the table of frames and the counts/],
    [orderOf(right, { table: table.subarray(0, -1) }), /^Expected the table of frames and the counts/],
  ];
  for (const [order, message] of refusals) {
    assert.throws(() => summarise(order), { name: 'InvalidResultError', message });
  }
});

test('frames are those of the shard that have no error, and there are as many', () => {
  const work: ShardWork = {
    kind: 'frames',
    sources: plannedSources([5, 6, 9].map((index) => ({ index, uri: `file:///${index}` }))),
  };
  const error = (source: number) => ({ source, stage: 'decode', error: 'broken' });
  assert.deepEqual([...framesWithout(work, 3, []).runs], [5, 2, 9, 1]);
  assert.deepEqual([...framesWithout(work, 2, [error(6)]).runs], [5, 1, 9, 1]);
  const tile: ShardWork = { kind: 'tile', sources: plannedSources([{ index: 5, uri: 'file:///5' }]), size, rect };
  const refusals: [work: ShardWork, frames: number, errors: number[], sentence: RegExp][] = [
    [work, 2, [], /^There are results of 2 sources instead of 3$/],
    [work, 3, [6], /^There are results of 3 sources instead of 2$/],
    [work, 3, [7], /^The result of source 7 was not asked for, or is answered twice$/],
    [work, 1, [6, 6], /^The result of source 6 was not asked for, or is answered twice$/],
    [tile, 1, [], /^There are results of frames instead of a tile$/],
  ];
  for (const [of, frames, errors, message] of refusals) {
    assert.throws(() => framesWithout(of, frames, errors.map(error)), { name: 'InvalidResultError', message });
  }
});
