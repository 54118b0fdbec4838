import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DeviceKind, NodeDevice } from '../devices/device.ts';
import type { DecodeChoice } from './decode-choice.ts';
import type { Decoder } from './earliest-finish.ts';
import { JpegFeed, type JpegFeedOptions } from './jpeg-feed.ts';

/** A device of kind `kind`; `compile` prepares its decoder. */
function deviceOf(kind: DeviceKind, compile: () => Promise<void>): NodeDevice {
  const unused = () => assert.fail('nothing is computed');
  const jpegs = { maxBytes: 1, batchBytes: 1, prepare: compile, decode: unused };
  return {
    info: { kind, name: 'a', driver: 'b' },
    maxStagingBytes: 1,
    batchBytes: 1,
    batchesInFlight: 1,
    jpegs: kind === 'cpu' ? undefined : jpegs,
    acquire: unused,
    run: unused,
    lost: new Promise<string>(() => {}),
    close: unused,
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
    choice,
    device: deviceOf(kind, compile),
    channels: 'gray',
    threads: { read: () => assert.fail('nothing is read') },
    coresAtOnce: 4,
    readRate: async () => undefined,
    keepRate: async (rate) => void kept.push(rate),
    nowMs: () => nowMs,
    note: (line) => notes.push(line),
    ...changes,
  });
  /** Decodes `frames` frames, in `seconds` on either decoder. Resolves with the decoder. */
  const decode = async (seconds = 1, frames = 64): Promise<Decoder> => {
    let decoder: Decoder | undefined;
    const work = (where: Decoder) => async () => {
      decoder = where;
      nowMs += 1000 * seconds;
      return { done: 1000, seconds };
    };
    await feed.decode(frames, 1000, { device: work('device'), cores: work('cores') });
    return decoder!;
  };
  return { feed, compiled, compiles: () => compiles, kept, notes, decode };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('cores decode all on a cpu device, on a software device unless gpu is chosen, and if cpu is chosen', async () => {
  for (const [choice, kind] of [
    ['auto', 'cpu'],
    ['auto', 'software'],
    ['cpu', 'gpu'],
  ] as const) {
    const { feed, compiles, decode } = feedOf(choice, kind);
    assert.equal(feed.isOn, false);
    for (let i = 0; i < 10; i++) assert.equal(await decode(), 'cores');
    assert.equal(compiles(), 0);
  }
  assert.equal(await feedOf('gpu', 'software').decode(), 'device');
});

test('a short run does not prepare the device; in a longer one cores decode until the device is ready and is measured', async () => {
  const { compiled, compiles, kept, decode } = feedOf('auto', 'gpu');
  for (let i = 0; i < 4; i++) assert.equal(await decode(), 'cores');
  assert.equal(compiles(), 0);
  assert.equal(await decode(), 'cores');
  assert.equal(compiles(), 1);
  assert.equal(await decode(), 'cores');
  compiled.resolve();
  await turn();
  // The device is ten times as fast as cores.
  for (let i = 0; i < 40; i++) assert.equal(await decode(0.1), 'device');
  assert.deepEqual(kept.map(Math.round), [10_000]);
  assert.equal(compiles(), 1);
});

test('while the device gets ready, cores get just enough work to be busy, and the device gets the rest', async () => {
  const { feed, compiled, decode } = feedOf('auto', 'gpu', { readRate: async () => 10_000 });
  for (let i = 0; i < 4; i++) await decode();
  const given: Decoder[] = [];
  const ends: (() => void)[] = [];
  const work = (decoder: Decoder) => async () => {
    given.push(decoder);
    await new Promise<void>((resolve) => ends.push(resolve));
    return { done: 1000 };
  };
  const all = Array.from({ length: 10 }, () => feed.decode(64, 1000, { device: work('device'), cores: work('cores') }));
  await turn();
  assert.deepEqual(given, Array(4).fill('cores'));
  ends.shift()!();
  await turn();
  assert.deepEqual(given, Array(5).fill('cores'));
  compiled.resolve();
  await turn();
  assert.deepEqual(given, [...Array(5).fill('cores'), ...Array(5).fill('device')]);
  for (const end of ends) end();
  await Promise.all(all);
});

test('a device with a kept rate gets no batch to be measured by', async () => {
  const { compiled, kept, decode } = feedOf('auto', 'gpu', { readRate: async () => 10 });
  for (let i = 0; i < 5; i++) await decode();
  compiled.resolve();
  await turn();
  for (let i = 0; i < 40; i++) assert.equal(await decode(), 'cores');
  assert.deepEqual(kept, []);
});

test('cores decode all if the device refuses its decoder, and a line says so', async () => {
  const { feed, compiled, notes, decode } = feedOf('auto', 'gpu');
  assert.equal(await decode(1, 257), 'cores');
  compiled.reject(new Error('no such thing'));
  await turn();
  assert.equal(await decode(), 'cores');
  assert.equal(feed.isOn, false);
  assert.deepEqual(notes, ['Cores decode all JPEGs, because the device does not: no such thing']);
});
