import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ShardCompleted, splitAnswer } from '@halogrid/proto';
import { toShardAnswer } from './answer-message.ts';

/** An answer of frames off the wire; `frames` have so many bins each. */
function answerOf(frames: readonly number[], more: object = {}) {
  const results = frames.map((bins, source) => {
    const own = { source, width: 9, height: 7, rect: { x: 0, y: 0, width: 9, height: 7 }, counted: 5, ...more };
    return { ...own, bins: Uint32Array.from({ length: bins }, (_, bin) => (bin * 31 + source) % 1000) };
  });
  const reports = [...splitAnswer({ ...ShardCompleted.create(), results }, 50_000)];
  const messages = reports.flatMap(({ value }) => ('counts' in value && value.counts ? [value.counts] : []));
  const last = reports.at(-1)!;
  assert.ok(last.$case === 'completed' && messages.length === reports.length);
  return { results, messages, completed: last.value };
}

const enough = Array.from({ length: 512 }, () => 256);

test('many bins stay as they came, and are those of each result where somebody asks', () => {
  const { results, messages, completed } = answerOf(enough);
  const answer = toShardAnswer(completed, messages);
  assert.deepEqual(answer.packed, { messages, binsAResult: 256 });
  for (const [i, { source, size, rect, counted, bins }] of answer.results.entries()) {
    const { width, height, ...own } = results[i]!;
    assert.deepEqual({ source, rect, counted, bins }, own);
    assert.deepEqual(size, { width, height });
  }
});

for (const [what, frames, more] of [
  ['few bins', enough.slice(1), {}],
  ['frames of different bins', [...enough, 255], {}],
  ['several pipelines', enough, { pipeline: 1 }],
  ['no bins', [], {}],
] as const) {
  test(`${what} are read at once`, () => {
    const { results, messages, completed } = answerOf(frames, more);
    const answer = toShardAnswer(completed, messages);
    assert.equal(answer.packed, undefined);
    assert.deepEqual(
      answer.results.map(({ bins }) => bins),
      results.map(({ bins }) => bins),
    );
  });
}

test('an answer with more bins than it says, or fewer, or one that is cut, is refused as it comes', () => {
  const { messages, completed } = answerOf(enough);
  for (const wrong of [
    [...messages, Uint8Array.of(1)],
    messages.slice(1),
    [...messages.slice(0, -1), Uint8Array.of(...messages.at(-1)!.subarray(0, -1), 0x80)],
  ]) {
    assert.throws(() => toShardAnswer(completed, wrong), { name: 'Refusal' });
  }
});

test('bins that are no counts are 0 where somebody asks, so that nothing is made of them', () => {
  const { messages, completed } = answerOf(enough);
  const overlong = messages.map((bytes) => Uint8Array.from(bytes));
  // As many numbers end as before, and one of them has ten bytes.
  const [first] = overlong as [Uint8Array];
  overlong[0] = Uint8Array.from([...Array(9).fill(0x80), 0, ...first.subarray(1)]);
  const answer = toShardAnswer(completed, overlong);
  assert.ok(answer.packed);
  assert.ok(answer.results.every(({ bins }) => bins.length === 256 && Array.from(bins).every((count) => count === 0)));
});
