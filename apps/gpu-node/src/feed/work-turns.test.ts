import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WorkTurns } from './work-turns.ts';

function onClock(answers: ('same' | 'other')[] = []) {
  let nowMs = 0;
  const rates: number[] = [];
  const turns = new WorkTurns(
    () => nowMs,
    (rate) => {
      rates.push(Math.round(rate));
      return answers.shift() ?? 'same';
    },
  );
  const pass = (ms: number) => (nowMs += ms);
  /** Does pieces of work one after another, 100 ms each. */
  const work = (pieces: number, done: number) => {
    for (let i = 0; i < pieces; i++) {
      const turn = turns.begin();
      pass(100);
      turns.end(turn, done);
    }
  };
  return { turns, rates, pass, work };
}

test('each turn is measured separately, over the time in which its work was under way', () => {
  const { rates, pass, work } = onClock();
  work(8, 10);
  pass(60_000);
  work(7, 10);
  assert.deepEqual(rates, []);
  work(1, 10);
  work(16, 20);
  assert.deepEqual(rates, [100, 200]);
});

test('work of the turn before adds neither work nor time to the next one', () => {
  const { turns, rates, pass, work } = onClock(['other']);
  const late = turns.begin();
  work(16, 10);
  assert.deepEqual(rates, [100]);
  // Work of the turn before is still under way.
  work(20, 1000);
  pass(5000);
  turns.end(late, 1_000_000);
  work(16, 30);
  assert.deepEqual(rates, [100, 300]);
});

test('a turn takes half a second at least', () => {
  const { turns, rates, pass } = onClock();
  for (let i = 0; i < 499; i++) {
    const turn = turns.begin();
    pass(1);
    turns.end(turn, 1);
  }
  assert.deepEqual(rates, []);
  const turn = turns.begin();
  pass(1);
  turns.end(turn, 1);
  assert.deepEqual(rates, [1000]);
});
