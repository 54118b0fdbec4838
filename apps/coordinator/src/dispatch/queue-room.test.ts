import assert from 'node:assert/strict';
import { test } from 'node:test';
import { turns } from '@halogrid/testing';
import { QueueRoom } from './queue-room.ts';

const cases: [what: string, full: Waiting, more: Waiting, half: Waiting][] = [
  ['shards', { shards: 4096, sources: 0 }, { shards: 2049, sources: 0 }, { shards: 2048, sources: 0 }],
  ['sources', { shards: 1, sources: 65_536 }, { shards: 1, sources: 32_769 }, { shards: 1, sources: 32_768 }],
];

interface Waiting {
  shards: number;
  sources: number;
}

for (const [what, full, more, half] of cases) {
  test(`a plan waits while the queue is full of ${what}, until half of them are gone`, async () => {
    let waiting: Waiting = { ...full, [what]: full[what as keyof Waiting] - 1 };
    let isOver = false;
    const room = new QueueRoom(() => waiting);
    await room.wait();
    waiting = full;
    const waited = room.wait().then(() => {
      isOver = true;
    });
    for (waiting of [full, more]) {
      room.shrank();
      await turns();
      assert.equal(isOver, false);
    }
    waiting = half;
    room.shrank();
    await waited;
  });
}

test('a plan that waits goes on when its job ends', async () => {
  const room = new QueueRoom(() => ({ shards: 2, sources: 2 }), 2);
  const waited = room.wait();
  room.end();
  await waited;
});
