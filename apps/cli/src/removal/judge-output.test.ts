import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StoredOutput } from '@halogrid/results/stored-output';
import fc from 'fast-check';
import { type GarbageChoice, type JobKnowledge, judgeOutput } from './judge-output.ts';

const nowMs = 1_000_000;
const ended: StoredOutput = {
  path: '/out',
  jobId: 'j',
  state: 'complete',
  isUnfinished: false,
  changedMs: nowMs - 100,
};
const left: StoredOutput = {
  ...ended,
  state: 'running',
  isUnfinished: true,
  coordinator: { host: 'rack-1', pid: 7 },
};
const alone: JobKnowledge = { isAlive: false, isOfThisHost: true };
const away: JobKnowledge = { isAlive: false, isOfThisHost: false };

const rows: [
  output: StoredOutput,
  known: JobKnowledge,
  choice: Omit<GarbageChoice, 'nowMs'>,
  fate: string,
  why: RegExp,
][] = [
  [ended, alone, {}, 'keep', /^$/],
  [ended, alone, { olderThanMs: 101 }, 'keep', /^$/],
  [ended, alone, { olderThanMs: 100 }, 'remove', /^old$/],
  [{ ...ended, state: 'removed' }, alone, {}, 'remove', /interrupted/],
  [left, alone, { olderThanMs: 0 }, 'keep', /^unfinished, nobody leads it$/],
  [left, alone, { unfinished: true }, 'remove', /nobody leads/],
  [left, alone, { unfinished: true, olderThanMs: 101 }, 'keep', /not old/],
  [left, { ...alone, isAlive: true }, { unfinished: true }, 'keep', /^process 7 runs it$/],
  [left, away, { unfinished: true }, 'keep', /'rack-1' may run it; look there, or give --coordinator$/],
  [left, { ...away, atCoordinator: 'unknown' }, { unfinished: true }, 'keep', /'rack-1' may run it; .* --older-than$/],
  [left, { ...away, atCoordinator: 'unknown' }, { unfinished: true, olderThanMs: 100 }, 'remove', /nobody leads/],
  [left, { ...alone, atCoordinator: 'running' }, { unfinished: true }, 'keep', /^it is running$/],
  [left, { ...alone, atCoordinator: 'can go on' }, { unfinished: true }, 'keep', /halogrid cancel/],
];

for (const [i, [output, known, choice, fate, why]] of rows.entries()) {
  test(`${i}: ${JSON.stringify({ ...known, ...choice })} is ${fate}`, () => {
    const verdict = judgeOutput(output, known, { nowMs, ...choice });
    assert.equal(verdict.fate, fate);
    assert.match(verdict.why, why);
  });
}

test('no job that may run or go on is ever removed, and no results younger than asked', () => {
  const known = fc.record({
    isAlive: fc.boolean(),
    isOfThisHost: fc.boolean(),
    atCoordinator: fc.constantFrom('running' as const, 'can go on' as const, 'unknown' as const),
  });
  const choice = fc.record({ olderThanMs: fc.option(fc.nat(200), { nil: undefined }), unfinished: fc.boolean() });
  fc.assert(
    fc.property(fc.constantFrom(ended, left), known, choice, fc.nat(200), (output, known, choice, ageMs) => {
      const { fate } = judgeOutput({ ...output, changedMs: nowMs - ageMs }, known, { nowMs, ...choice });
      if (fate === 'keep') return;
      assert.ok(ageMs >= (choice.olderThanMs ?? 0));
      assert.ok(!output.isUnfinished || known.isOfThisHost || choice.olderThanMs !== undefined);
      if (output.isUnfinished) assert.ok(choice.unfinished && !known.isAlive && known.atCoordinator === 'unknown');
      else assert.ok(choice.olderThanMs !== undefined);
    }),
  );
});
