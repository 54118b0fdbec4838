import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { tryAgain, unsteadyTable } from './try-again.mjs';

const runTests = fileURLToPath(new URL('run-tests.mjs', import.meta.url));
const { NODE_TEST_CONTEXT: _, ...environment } = process.env;

/** Makes a folder of test files. `unsteady` fails once. */
function stage(t, files) {
  const folder = mkdtempSync(join(tmpdir(), 'halogrid-run-tests-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const begin = "import { test } from 'node:test'; import { existsSync, writeFileSync } from 'node:fs';\n";
  for (const [name, code] of Object.entries(files)) writeFileSync(join(folder, `${name}.test.mjs`), begin + code);
  const failures = join(folder, 'failures');
  const task = { NX_TASK_TARGET_PROJECT: 'some', NX_TASK_TARGET_TARGET: 'test' };
  const env = { ...environment, ...task, TEST_FAILURES: failures };
  const { status } = spawnSync(process.execPath, [runTests, '*.test.mjs'], { cwd: folder, env, stdio: 'ignore' });
  const again = { failures, env, kept: join(folder, 'kept'), stdio: 'ignore' };
  return { status, failures, again: (failedTasks) => tryAgain({ ...again, failedTasks }) };
}
const steady = "test('is well', () => {});";
const unsteady =
  "test('is unsteady', () => { if (existsSync('once')) return; writeFileSync('once', ''); throw new Error('too slow'); });";
const broken = "test('is broken', () => { throw new Error('wrong'); });";

test('a run without a failure records none', (t) => {
  const { status, failures } = stage(t, { steady });
  assert.equal(status, 0);
  assert.throws(() => readFileSync(failures), /ENOENT/);
});

test('a file that passes when it is tried again is unsteady, and the run does not fail', (t) => {
  const { status, again } = stage(t, { steady, unsteady });
  assert.equal(status, 1);
  const shown = t.mock.method(console, 'log', () => {});
  assert.equal(again(['some:test']), true);
  assert.match(shown.mock.calls.at(-1).arguments[0], /unsteady\.test\.mjs \| is unsteady \| too slow \|$/m);
});

test('a file that fails twice is broken', (t) => {
  const { again } = stage(t, { broken, unsteady });
  t.mock.method(console, 'log', () => {});
  assert.equal(again(['some:test']), false);
});

test('a file that ends its process is tried again as well', (t) => {
  const dying = "test('dies', () => { if (existsSync('once')) return; writeFileSync('once', ''); process.exit(7); });";
  const { again } = stage(t, { dying });
  t.mock.method(console, 'log', () => {});
  assert.equal(again(['some:test']), true);
});

test('if something other than a test failed, nothing is tried again', (t) => {
  const { again } = stage(t, { unsteady });
  assert.equal(again(['some:test', 'all:check']), false);
  assert.equal(again([]), false);
});

test('the table has a line for each file', () => {
  const run = { patterns: ['/a/b.test.ts'], test: 'a | b', message: 'x' };
  assert.match(unsteadyTable([run]), /a \\\| b \| x \|$/m);
});
