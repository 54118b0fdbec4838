import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AttachRequest, maxCountsBytes, ShardCompleted } from '@halogrid/proto';
import { Outgoing } from './outgoing.ts';

/** A stream that takes one message at a time. */
function slowStream() {
  const written: string[] = [];
  let drained = () => {};
  const stream = {
    write: ({ report }: AttachRequest) => {
      written.push(report!.$case === 'part' ? `part ${report!.value.number}` : report!.$case);
      return false;
    },
    end: () => void written.push('end'),
    once: (_event: 'drain', listener: () => void) => {
      drained = listener;
    },
  };
  return { stream, written, drain: () => drained() };
}

test('a long answer is encoded as the stream takes it, keeps its place among other reports, and the stream ends after all', () => {
  const { stream, written, drain } = slowStream();
  const outgoing = new Outgoing(stream);
  const result = { source: 0, width: 1, height: 1, rect: undefined, counted: 0 };
  // Two bytes a count, and one count more than two messages hold.
  const bins = new Uint32Array(maxCountsBytes + 1).fill(200);
  outgoing.send({ $case: 'completed', value: { ...ShardCompleted.create(), results: [{ ...result, bins }] } });
  outgoing.send({ $case: 'heartbeat', value: {} });
  outgoing.end();
  const expected = ['part 1', 'part 2', 'completed', 'heartbeat', 'end'];
  for (let taken = 1; taken < expected.length; taken++) {
    assert.deepEqual(written, expected.slice(0, taken));
    drain();
  }
  assert.deepEqual(written, expected);
});
