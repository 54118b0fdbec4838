import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Device, DeviceKind } from '../devices/device.ts';
import type { DecodeChoice } from './decode-choice.ts';
import { JpegFeed, type JpegFeedOptions } from './jpeg-feed.ts';

/** A device of that kind; `compile` is what gets its decoder ready. */
function deviceOf(kind: DeviceKind, compile: () => Promise<void>): Device {
  const unused = () => assert.fail('nothing is computed');
  const jpegs = { maxBytes: 1, batchBytes: 1, prepare: compile, decode: unused };
  return {
    ...{ info: { kind, name: 'a', driver: 'b' }, maxStagingBytes: 1, batchBytes: 1, batchesInFlight: 1 },
    ...(kind !== 'cpu' && { jpegs }),
    ...{ acquire: unused, run: unused, lost: new Promise<string>(() => {}), close: unused },
  };
}

function feedOf(choice: DecodeChoice, kind: DeviceKind, changes: Partial<JpegFeedOptions> = {}) {
  let nowMs = 0;
  const compiled = Promise.withResolvers<void>();
  let compiles = 0;
  const compile = () => {
    compiles++;
    return compiled.promise;
  };
  const kept: number[] = [];
  const notes: string[] = [];
  const feed = new JpegFeed({
    ...{ choice, device: deviceOf(kind, compile), channels: 'gray' },
    threads: { read: () => assert.fail('nothing is read') },
    readRate: async () => undefined,
    keepRate: async (rate) => void kept.push(rate),
    nowMs: () => nowMs,
    note: (line) => notes.push(line),
    ...changes,
  });
  const work = (seconds: number) => async () => {
    nowMs += 1000 * seconds;
    return { done: 1000, seconds };
  };
  return { feed, compiled, compiles: () => compiles, kept, notes, work };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('cores decode all on a cpu, on a software device unless it is asked for, and where they are asked for', () => {
  for (const [choice, kind] of [
    ['auto', 'cpu'],
    ['auto', 'software'],
    ['cpu', 'gpu'],
  ] as const) {
    const { feed, compiles } = feedOf(choice, kind);
    assert.equal(feed.isOn, false);
    for (let i = 0; i < 10; i++) assert.equal(feed.choose(128, 1000), 'cores');
    assert.equal(compiles(), 0);
  }
  assert.equal(feedOf('gpu', 'software').feed.choose(1, 1000), 'device');
});

test('a small run starts nothing; in a larger one cores go on until the device is ready, which then is measured', async () => {
  const { feed, compiled, compiles, kept, work } = feedOf('auto', 'gpu');
  const decode = async (seconds: number) => {
    const decoder = feed.choose(64, 1000);
    await feed.during(decoder, 1000, work(seconds));
    return decoder;
  };
  for (let i = 0; i < 4; i++) assert.equal(await decode(1), 'cores');
  assert.equal(compiles(), 0);
  assert.equal(await decode(1), 'cores');
  assert.equal(compiles(), 1);
  assert.equal(await decode(1), 'cores');
  compiled.resolve();
  await turn();
  // Ten times as fast as cores.
  for (let i = 0; i < 40; i++) assert.equal(await decode(0.1), 'device');
  assert.deepEqual(kept.map(Math.round), [10_000]);
  assert.equal(compiles(), 1);
});

test('a device that was measured before gets no batch to be measured by', async () => {
  const { feed, compiled, kept, work } = feedOf('auto', 'gpu', { readRate: async () => 10 });
  for (let i = 0; i < 5; i++) await feed.during(feed.choose(64, 1000), 1000, work(1));
  compiled.resolve();
  await turn();
  for (let i = 0; i < 40; i++) {
    assert.equal(feed.choose(64, 1000), 'cores');
    await feed.during('cores', 1000, work(1));
  }
  assert.deepEqual(kept, []);
});

test('cores decode all where the device refuses its decoder, and a line says so', async () => {
  const { feed, compiled, notes } = feedOf('auto', 'gpu');
  assert.equal(feed.choose(257, 1000), 'cores');
  compiled.reject(new Error('no such thing'));
  await turn();
  assert.equal(feed.choose(64, 1000), 'cores');
  assert.equal(feed.isOn, false);
  assert.deepEqual(notes, ['Cores decode all JPEGs, because the device does not: no such thing']);
});
