import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DecoderProcesses } from './decoder-processes.ts';
import type { VideoFile } from './video-file.ts';
import type { VideoReader } from './video-reader.ts';

const fileOf = (version: string) => ({ version, access: { path: version } }) as VideoFile;
const [one, other] = [fileOf('one'), fileOf('other')];

/** Two processes at most, which are numbered as they are started. */
function twoOf(kind: 'cores' | 'hardware') {
  let started = 0;
  return new DecoderProcesses(kind, 2, () => ({ number: started++, isFree: true }) as unknown as VideoReader);
}
const statesOf = (processes: DecoderProcesses, nowMs: number, waitedMs = 0) =>
  processes.states(nowMs, waitedMs).map(({ state: { freeInMs, isFree } }) => [freeInMs, isFree]);

test('how quick processes are is measured from the second segment of each on', () => {
  const processes = twoOf('cores');
  const first = processes.packetMs;
  const reader = processes.begin(undefined, one, 100, 0);
  processes.free(reader, 5000);
  assert.equal(processes.packetMs, first, 'the first has the start in it');
  for (let turn = 0; turn < 50; turn++) {
    assert.equal(processes.begin(reader, one, 100, 0), reader);
    processes.free(reader, 300);
  }
  assert.ok(Math.abs(processes.packetMs - 3) < 0.01, `${processes.packetMs}`);
  processes.begin(reader, one, 100, 0);
  processes.ignore(reader);
  processes.free(reader, 90_000);
  assert.ok(Math.abs(processes.packetMs - 3) < 0.01, 'what is not its work tells nothing');
});

test('a process at work is expected to be free when its packets are done, and as late again as it is late', () => {
  const processes = twoOf('cores');
  processes.packetMs = 10;
  processes.begin(undefined, one, 100, 0);
  assert.deepEqual(statesOf(processes, 400), [
    [600, false],
    [0, true],
  ]);
  assert.deepEqual(statesOf(processes, 1500)[0], [500, false]);
});

test('to start hardware counts 1.2 s less the time that work has waited', () => {
  const processes = twoOf('hardware');
  assert.deepEqual(statesOf(processes, 0, 200), Array(2).fill([1000, true]));
  assert.deepEqual(statesOf(processes, 0, 5000), Array(2).fill([0, true]));
});

test('a free process that has read the file goes on with it', () => {
  const processes = twoOf('cores');
  const readers = [one, other].map((file) => Object.assign(processes.begin(undefined, file, 9, 0), { file }));
  for (const reader of readers) processes.free(reader, 9);
  assert.equal(processes.begin(readers[1], one, 9, 10), readers[0]);
  assert.equal(processes.begin(readers[1], one, 9, 10), readers[1], 'and any other where none has');
  assert.deepEqual(processes.takeIdle(10), []);
});
