import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WorkRate } from './work-rate.ts';

function onClock(rate?: number) {
  let nowMs = 0;
  const work = new WorkRate(() => nowMs, rate);
  return { work, pass: (ms: number) => (nowMs += ms) };
}

test('the rate is finished work over the time in which any was under way, without pauses', () => {
  const { work, pass } = onClock();
  assert.equal(work.rate, undefined);
  work.begin(100);
  pass(500);
  work.begin(300);
  assert.equal(work.queued, 400);
  pass(500);
  work.end(100, { done: 100 });
  assert.equal(work.rate, 100);
  pass(1000);
  work.end(300, { done: 300 });
  assert.deepEqual([work.queued, work.rate], [0, 200]);
  pass(60_000);
  work.begin(200);
  pass(1000);
  work.end(200, { done: 200 });
  assert.equal(work.rate, 200);
});

test('seconds by the decoder’s own clock take precedence, because its batches also wait for other work', () => {
  const { work, pass } = onClock();
  work.begin(100);
  pass(1000);
  work.end(100, { done: 100, seconds: 0.1 });
  assert.equal(work.rate, 1000);
});

test('work that failed is no longer queued, and does not change the rate', () => {
  const { work, pass } = onClock(50);
  work.begin(100);
  pass(1000);
  work.end(100, { done: 0 });
  assert.deepEqual([work.queued, work.rate], [0, 50]);
});

test('a rate from before gives way to measured ones', () => {
  const { work, pass } = onClock(1000);
  for (let i = 0; i < 40; i++) {
    work.begin(10);
    pass(1000);
    work.end(10, { done: 10 });
  }
  assert.ok(Math.abs(work.rate! - 10) < 2, `${work.rate}`);
});
