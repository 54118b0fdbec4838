import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withTurns } from './frame-turns.ts';
import { framesOf, groupPackets, type VideoPacket } from './video-frames.ts';

/** Packets of an AVI at these places among all of its chunks; no packet has a time at which it is shown. */
async function* packetsAt(places: readonly (number | null)[], keys: readonly number[] = [0]) {
  for (const [packet, dts] of places.entries()) {
    const isKey = keys.includes(packet);
    const facts = { packet, pts: null, dts, position: 100 * packet, size: 9, isHidden: false };
    yield { ...facts, isKey, isClean: isKey } satisfies VideoPacket;
  }
}

const turnsOf = async (places: readonly (number | null)[], delay: number) =>
  (await Array.fromAsync(withTurns(packetsAt(places), delay))).map(({ turn }) => turn);

test('a frame is shown when the decoder takes the packet that is as many places later as the decoder holds back', async () => {
  assert.deepEqual(await turnsOf([0, 1, 2, 3, 4], 0), [0, 1, 2, 3, 4]);
  assert.deepEqual(await turnsOf([0, 1, 2, 3, 4], 2), [2, 3, 4, 5, 6]);
  // The chunks 1, 2 and 5 are empty: the frame before each stays on for longer.
  assert.deepEqual(await turnsOf([0, 3, 4, 6, 7], 1), [3, 4, 6, 7, 8]);
  assert.deepEqual(await turnsOf([0], 2), [0]);
  assert.deepEqual(await turnsOf([], 2), []);
  assert.deepEqual(await turnsOf([null, null, 5, 6], 1), [null, 5, 6, 7]);
  assert.deepEqual(await turnsOf([null, null], 1), [null, null]);
});

test('frames of every group that states no times are as far apart as the packets of the file', async () => {
  const ticks: (number | undefined)[] = [];
  let start: number | undefined;
  for await (const group of groupPackets(withTurns(packetsAt([0, 1, 2, 3, 4, 5, 6], [0, 3]), 2))) {
    const { frames, startTicks } = framesOf(group, ticks.length, start);
    start ??= startTicks;
    ticks.push(...frames.map((frame) => frame.ticks));
  }
  assert.deepEqual(ticks, [0, 1, 2, 3, 4, 5, 6]);
});
