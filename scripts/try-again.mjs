import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { node, root } from './install.mjs';
import { readLines } from './json-lines.mjs';

const runTests = join(root, 'scripts/run-tests.mjs');

/**
 * Runs each failed test file once more, alone, and lists the files that then passed. An unsteady test is a fault whose
 * cause must be mended.
 *
 * @param {object} ended
 * @param {string} ended.failures the file in which test runs recorded what failed (see run-tests.mjs)
 * @param {string[]} ended.failedTasks all tasks that failed; nothing is tried again if one of them does not run tests
 * @param {NodeJS.ProcessEnv} ended.env
 * @param {string} ended.kept the file for the list; not written if the list is empty
 * @param {'inherit' | 'ignore'} [ended.stdio] of the test runs
 * @returns {boolean} whether all failed test files passed
 */
export function tryAgain({ failures, failedTasks, env, kept, stdio = 'inherit' }) {
  rmSync(kept, { force: true });
  const runs = readLines(failures);
  const tasks = new Set(runs.map(({ task }) => task));
  if (failedTasks.length === 0 || !failedTasks.every((task) => tasks.has(task))) return false;
  // The failure is recorded already, so this run records nothing.
  const { TEST_FAILURES: _, ...alone } = env;
  const unsteady = runs.filter(({ cwd, options, patterns }) => {
    console.log(`\nOnce more, alone: ${relative(root, patterns[0])}`);
    const { status } = spawnSync(node, [runTests, ...options, ...patterns], { cwd, env: alone, stdio });
    return status === 0;
  });
  const table = unsteadyTable(unsteady);
  if (unsteady.length > 0) writeFileSync(kept, table);
  console.log(table);
  return unsteady.length === runs.length;
}

/** @param {{ patterns: string[], test: string, message: string }[]} runs */
export function unsteadyTable(runs) {
  if (runs.length === 0) return 'Nothing that failed passed when it was tried again.\n';
  const rows = runs.map(
    ({ patterns, test, message }) => `| ${[relative(root, patterns[0]), test, message].map(cell).join(' | ')} |`,
  );
  return ['Unsteady:', '| file | test | first failure |', '| --- | --- | --- |', ...rows, ''].join('\n');
}

const cell = (text) => text.replaceAll('|', '\\|').slice(0, 200);
