import assert from 'node:assert/strict';
import { test } from 'node:test';
import { basisOf, estimateTime } from './estimate-time.ts';
import type { KeptRun } from './run-records.ts';
import { expectedDevice } from './this-machine.ts';

const video = { job: 0.3, 'decode video': 30, 'cpu lbp': 3 };
const archive = { job: 0.3, 'open jpeg': 20, 'decode jpeg': 200, 'cpu lbp': 40 };
const usual = (parts: KeptRun['parts'], startSeconds = 1) => ({ parts, startSeconds });
const run = (parts: KeptRun['parts'], seconds: number, startFactor = 1): KeptRun => ({
  machine: 'm',
  device: 'cpu',
  isChosen: true,
  startFactor,
  parts,
  seconds,
  slowdown: 1,
});

test('an archive is not measured by a video', () => {
  // A video took a tenth of what was expected. That is put down to decoding mostly, and partly to a fast machine.
  const { seconds, likeRuns, otherRuns } = estimateTime(usual(archive), [run(video, 3.3)], 1);
  assert.ok(seconds > 260 / 4 && seconds < 260, `${seconds}`);
  assert.deepEqual([likeRuns, otherRuns], [0, 1]);
  const known = estimateTime(usual(archive), [run(video, 3.3), run(archive, 300)], 1);
  assert.ok(known.seconds > 200 && known.seconds < 400, `${known.seconds}`);
  assert.deepEqual([known.likeRuns, known.otherRuns], [1, 1]);
});

test('a start takes what starts took here', () => {
  assert.equal(estimateTime(usual(video, 2), [], 1).startSeconds, 2);
  assert.equal(estimateTime(usual(video, 2), [], 3).startSeconds, 6);
  const runs = [run(video, 30, 1), run(video, 30, 3), run(video, 30, 90)];
  assert.equal(estimateTime(usual(video, 2), runs, 1).startSeconds, 6);
});

test('an estimate says what it is based on', () => {
  assert.equal(basisOf({ likeRuns: 0, otherRuns: 0 }), 'a guess: nothing was run on this machine yet');
  assert.equal(basisOf({ likeRuns: 0, otherRuns: 1 }), 'a guess: from 1 run on this machine, none of them similar');
  assert.equal(basisOf({ likeRuns: 3, otherRuns: 9 }), 'from 3 similar runs on this machine');
});

test('the device is the one that was chosen the last time, or that has a driver here', () => {
  const chose = (device: KeptRun['device'], isChosen = true) => ({ device, isChosen });
  assert.equal(expectedDevice('software', [chose('gpu')]), 'software');
  assert.equal(
    expectedDevice('auto', [chose('gpu'), chose('cpu'), chose('software', false)], () => true),
    'cpu',
  );
  assert.equal(
    expectedDevice('auto', [], () => true),
    'gpu',
  );
  assert.equal(
    expectedDevice('auto', [chose('gpu', false)], () => false),
    'cpu',
  );
});
