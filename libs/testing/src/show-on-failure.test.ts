import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

/** The output of a run of a test file with two live programs; its test fails if `fails`. */
function printedBy(t: { after(task: () => void): void }, fails: boolean): string {
  const folder = mkdtempSync(join(tmpdir(), 'halogrid-show-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'file.test.mjs');
  const program = `
    import assert from 'node:assert/strict';
    import { test } from 'node:test';
    import { showOnFailure } from '${new URL('show-on-failure.ts', import.meta.url)}';
    const lines = Array.from({ length: 100 }, (_, i) => 'line ' + i).join('\\n');
    showOnFailure({ name: 'a coordinator', printed: () => lines, end: () => undefined });
    showOnFailure({ name: 'a node', printed: () => '', end: () => 'SIGKILL' });
    test('works', () => {});
    test('may fail', () => assert.ok(${!fails}));`;
  writeFileSync(file, program);
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const { stdout, stderr } = spawnSync(process.execPath, ['--test', file], { encoding: 'utf8', env });
  return stdout + stderr;
}

test('a failing test shows the last lines of each program that was alive', (t) => {
  const printed = printedBy(t, true);
  assert.match(printed, /--- a coordinator is running:\nline 80\n/);
  assert.match(printed, /line 99\n/);
  assert.doesNotMatch(printed, /line 79\n/);
});

test('a program that ended before a test began is not shown', (t) => {
  assert.doesNotMatch(printedBy(t, true), /a node/);
});

test('if nothing fails, nothing is shown', (t) => {
  assert.doesNotMatch(printedBy(t, false), /line \d/);
});
