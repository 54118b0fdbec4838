import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failedTasks, testTotals } from './test-totals.mjs';

const run = (pass, fail, cancelled, skipped) =>
  `✔ something # pass 99\n# tests 9\n# pass ${pass}\n# fail ${fail}\n# cancelled ${cancelled}\n# skipped ${skipped}\n`;

test('totals are summed over projects, and cancelled tests count as failed', () => {
  assert.deepEqual(testTotals(run(3, 1, 1, 2) + run(10, 0, 0, 0)), { passed: 13, failed: 2, skipped: 2 });
});

test('colours do not matter', () => {
  assert.equal(testTotals('\u001b[34m# pass 7\u001b[39m\n').passed, 7);
});

test('no test run gives zeros', () => {
  assert.deepEqual(testTotals('nothing'), { passed: 0, failed: 0, skipped: 0 });
});

test('the failed tasks are read from the list of Nx', () => {
  const lists = [
    'Failed tasks:\n\n- @halogrid/threads:test\n- halogrid-workspace:check\n\n',
    '\u001b[31mFailed tasks:\u001b[39m\n\n- @halogrid/test:test\n',
  ];
  const expected = ['@halogrid/threads:test', 'halogrid-workspace:check', '@halogrid/test:test'];
  assert.deepEqual(failedTasks(`# fail 1\n${lists.join('text\n')}`), expected);
  assert.deepEqual(failedTasks('NX   Successfully ran target test'), []);
});
