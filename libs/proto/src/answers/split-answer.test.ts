import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { AttachRequest, ShardCompleted } from '../gen/halogrid/v1/nodes.ts';
import { excessOf, reportBounds } from '../limits/message-bounds.ts';
import { CountsError, joinCounts } from './join-counts.ts';
import { type FoundAnswer, maxAnswerParts, maxCountsBytes, splitAnswer } from './split-answer.ts';

const lease = { jobId: 'j', shard: 3, attempt: 2, epoch: 5 };

const mended = { kinds: [{ mended: 'Bytes were left out', sources: 1, source: 7 }] };

function answerOf(counts: readonly ArrayLike<number>[]): FoundAnswer {
  const results = counts.map((bins, source) => {
    return { source, width: 9, height: 7, rect: undefined, counted: 63, bins: Uint32Array.from(bins) };
  });
  return { ...lease, results, errors: [], mended, stageSeconds: { read: 1 }, busySeconds: {}, inputBytes: 4 };
}

/** The messages of an answer, as they come off the wire. */
const sent = (answer: FoundAnswer, most?: number) =>
  [...splitAnswer(answer, most)].map(
    (report) => AttachRequest.decode(AttachRequest.encode({ report }).finish()).report!,
  );

const count = fc.oneof(fc.nat(300), fc.nat(2 ** 32 - 1), fc.constantFrom(0, 127, 128, 2 ** 32 - 1));

test('the counts of an answer are the same after they are split and joined, however small the messages are', () => {
  fc.assert(
    fc.property(fc.array(fc.array(count)), fc.integer({ min: 5, max: 40 }), (counts, most) => {
      const messages = sent(answerOf(counts), most);
      const parts = messages.flatMap((report) => (report.$case === 'part' ? [report.value] : []));
      const last = messages.at(-1)!;
      assert.ok(last.$case === 'completed' && parts.length === messages.length - 1);
      for (const [i, { counts: bytes, number, total, ...of }] of parts.entries()) {
        assert.deepEqual([number, total, of], [i + 1, parts.length, lease]);
        assert.ok(bytes.length > most - 5 && bytes.length <= most);
      }
      const { results, counts: rest = new Uint8Array(), parts: said = 0, found, timeline: _, ...answer } = last.value;
      assert.deepEqual([said, found], [parts.length, undefined]);
      const told = { errors: [], mended, stageSeconds: { read: 1 }, busySeconds: {}, inputBytes: 4 };
      assert.deepEqual(answer, { ...lease, ...told });
      assert.deepEqual(
        results.map(({ bins, binCount }) => [bins.length, binCount]),
        counts.map(({ length }) => [0, length]),
      );
      const joined = joinCounts(
        [...parts.map((part) => part.counts), rest],
        results.map(({ binCount }) => binCount!),
      );
      assert.deepEqual(
        joined.map((bins) => [...bins]),
        counts,
      );
    }),
  );
});

test('a usual answer is one message, and one of many counts has messages within their bounds', () => {
  assert.equal(sent(answerOf([new Uint32Array(256).fill(8100)])).length, 1);
  // 2^22 counts of two bytes fill 8 messages; the one more needs a ninth.
  const messages = sent(answerOf([new Uint32Array(2 ** 22).fill(255), [1]]));
  assert.equal(messages.length, 9);
  for (const report of messages) assert.equal(excessOf({ report }, reportBounds), undefined);
  const [first] = messages;
  assert.ok(first?.$case === 'part' && first.value.counts.length === maxCountsBytes);
  const larger = { ...first.value, counts: new Uint8Array(maxCountsBytes + 1) };
  assert.equal(excessOf({ report: { $case: 'part', value: larger } }, reportBounds)?.what, 'part.counts');
  const completed = ShardCompleted.fromPartial({ counts: larger.counts });
  assert.equal(excessOf({ report: { $case: 'completed', value: completed } }, reportBounds)?.what, 'completed.counts');
  assert.equal(maxAnswerParts * maxCountsBytes, 5 * 2 ** 26);
});

test('counts that are too few, too many, cut off, too large or missing are refused', () => {
  const table: [messages: number[][], lengths: number[], sentence: RegExp][] = [
    [[[1, 2]], [3], /Expected 3 counts but received 2 bytes/],
    [[[0x80, 1], [2]], [3], /Expected 3 counts but received 2$/],
    [[[1, 2], [3]], [2], /Expected 2 counts but received 3$/],
    [[[1, 0x80], [1]], [2], /one ends early/],
    [[[0x80, 0x80, 0x80, 0x80, 0x10]], [1], /below 2\^32/],
    [[Array(9).fill(0x80).concat(0)], [1], /below 2\^32/],
    [[[]], [2 ** 40], /Expected 1099511627776 counts but received 0 bytes/],
  ];
  for (const [messages, lengths, sentence] of table) {
    const bytes = messages.map((message) => Uint8Array.from(message));
    assert.throws(
      () => joinCounts(bytes, lengths),
      (error: Error) => error instanceof CountsError && sentence.test(error.message),
    );
  }
});
