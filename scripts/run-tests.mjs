// node run-tests.mjs [--isolation=none] [--concurrency=N] PATTERN…: runs the test files of a folder with Node's test
// runner. Every test has a time limit. If TEST_FAILURES names a file, a failed run adds lines of JSON to it that say
// what to try again.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testLimitMs } from '../libs/testing/src/patience.ts';
import { addLine, readLines } from './json-lines.mjs';

const reporter = new URL('test-reporter.mjs', import.meta.url).href;
const args = process.argv.slice(2);
const options = args.filter((arg) => arg.startsWith('--'));
const patterns = args.filter((arg) => !arg.startsWith('--'));
const scratch = mkdtempSync(join(tmpdir(), 'halogrid-run-'));
const failed = join(scratch, 'failed');

const child = spawn(
  process.execPath,
  [
    '--test',
    `--test-timeout=${testLimitMs}`,
    '--import',
    new URL('left-open.mjs', import.meta.url).href,
    `--test-reporter=${reporter}`,
    '--test-reporter-destination=stdout',
    ...options.map((option) => option.replace('--', '--test-')),
    ...patterns,
  ],
  { stdio: 'inherit', env: { ...process.env, TEST_FAILED: failed } },
);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('exit', (code) => {
  if (code !== 0 && process.env.TEST_FAILURES !== undefined) record(process.env.TEST_FAILURES);
  rmSync(scratch, { recursive: true, force: true });
  process.exitCode = code ?? 1;
});

/**
 * Records the test files to try again. A run that failed without a failed test file is to be tried again as a whole.
 */
function record(path) {
  const files = Map.groupBy(readLines(failed), ({ file }) => file);
  const { NX_TASK_TARGET_PROJECT: project, NX_TASK_TARGET_TARGET: target } = process.env;
  const run = { task: `${project}:${target}`, cwd: process.cwd(), options };
  if (files.size === 0) files.set(undefined, [{ test: 'the whole run', message: 'it ended without a failed test' }]);
  for (const [file, [{ test, message }]] of files) {
    addLine(path, { ...run, patterns: file ? [file] : patterns, test, message });
  }
}
