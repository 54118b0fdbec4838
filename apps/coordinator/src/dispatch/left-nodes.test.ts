import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Hello } from '@halogrid/proto';
import { LeftNodes } from './left-nodes.ts';

const session = (nodeId: string) => ({
  hello: Hello.fromPartial({ nodeId, name: `name of ${nodeId}` }),
  attachedMs: 1,
  totals: { shardsDone: 3, pixelsDone: 30, lastFailure: { error: 'No memory', atMs: 5 } },
});

test('nodes that are gone are listed for a day, with the reason, unless they come back', () => {
  let nowMs = 1_000;
  const left = new LeftNodes(() => nowMs);
  left.left(session('a'), 'Its connection broke');
  left.left(session('b'));
  left.left(session('c'), 'It was silent');
  left.attached('c');
  assert.deepEqual(
    left.list().map(({ nodeId, isLost, reason, shardsDone, lastFailure }) => {
      return [nodeId, isLost, reason, shardsDone, lastFailure];
    }),
    [
      ['b', false, 'It drained and left', 3, 'No memory'],
      ['a', true, 'Its connection broke', 3, 'No memory'],
    ],
  );
  nowMs += 24 * 3_600_000 + 1;
  assert.deepEqual(left.list(), []);
});
