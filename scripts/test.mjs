// npm test [-- [--try-again] [TARGET…]]: installs what is missing, then runs every check, every project's tests, and
// the named targets (check-generated, check-deployment, check-postgres). If nothing that one depends on has changed,
// its last output is shown instead. With --try-again a failed test file is run once more, alone; if it passes, it is
// listed as unsteady. Ends with 'N passed, N failed'.
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { environment, install, node, root } from './install.mjs';
import { failedTasks, testTotals } from './test-totals.mjs';
import { tryAgain } from './try-again.mjs';

install();

const words = process.argv.slice(2);
const more = words.filter((word) => !word.startsWith('--'));

const scratch = mkdtempSync(join(scratchParent(), 'halogrid-tests-'));
// Some tests act as another user, who must be able to enter this folder.
chmodSync(scratch, 0o755);
process.once('exit', () => rmSync(scratch, { recursive: true, force: true, maxRetries: 3 }));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(130));

/** The file in which failed test runs are recorded. */
const failures = join(scratch, 'failures');
const settings = {
  // Nx: no background process, no questions, no cloud, plain output.
  NX_DAEMON: 'false',
  NX_INTERACTIVE: 'false',
  NX_NO_CLOUD: 'true',
  NX_TUI: 'false',
  FORCE_COLOR: '0',
  TMPDIR: scratch,
  HALOGRID_PROGRAM: execFileSync(node, [join(root, 'scripts/bundle-for-tests.mjs')], { encoding: 'utf8' }).trim(),
  // Keeps tests away from the user's folders. Whole-program tests have their own way: see test/own-folders.ts.
  XDG_CACHE_HOME: join(root, 'node_modules/.cache'),
  XDG_DATA_HOME: join(root, 'node_modules/.cache/data'),
  // Caches compiled code, because a small test file spends most of its time compiling imports. It saves a third in all
  // (measured).
  NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/compiled'),
  // How many test files of the whole system run at a time: two more than there are cores, because many wait.
  TEST_CONCURRENCY: String(availableParallelism() + 2),
  // Packages whose test files leave nothing behind run them in one process, so that imports are loaded once. This saves
  // a fifth of the processor time in the coordinator's and the nodes' tests (measured).
  TEST_ISOLATION: 'none',
  TEST_FAILURES: failures,
};

// Tests of the whole system wait for timeouts and dying processes, while tests of packages compute. Run side by side,
// they keep cores busy to the end. Nx would start the former last, because no package depends on them.
const wholeSystem = '@halogrid/test';
const parallel = Math.max(2, availableParallelism());
const usual = ['check', 'test', 'test-scripts'];
const runs = [runMany(usual, parallel, `--exclude=${wholeSystem}`), runMany(usual, 1, `--projects=${wholeSystem}`)];
if (more.length > 0) runs.push(runMany(more, parallel));
const ended = [];
// Shown one after another, so that the lines of each stay together.
for (const { show, end } of runs) {
  show();
  ended.push(await end);
}
const { passed, failed, skipped } = testTotals(ended.map(({ output }) => output).join('\n'));
let isComplete = ended.every(({ code }) => code === 0);
let stillFailed = failed;
if (words.includes('--try-again') && !isComplete) {
  const kept = join(root, '.ci/unsteady.txt');
  const env = { ...environment, ...settings };
  const tasks = failedTasks(ended.map(({ errors }) => errors).join('\n'));
  if (tryAgain({ failures, failedTasks: tasks, env, kept })) [isComplete, stillFailed] = [true, 0];
}

if (!isComplete && failed === 0) console.log('The checks failed, or a test run ended without totals: see above.');
if (skipped > 0) console.log(`${skipped} skipped: their names say why.`);
console.log(`${passed} passed, ${stillFailed} failed`);
process.exitCode = isComplete && stillFailed === 0 && passed > 0 ? 0 : 1;

/**
 * The folder in which test files make their folders: in memory if there is plenty of it. Test files are many and small,
 * and on a disk the slowest tests take a third longer (measured: 72 s instead of 54).
 */
function scratchParent() {
  const inMemory = '/dev/shm';
  if (process.env.TMPDIR !== undefined) return tmpdir();
  try {
    const { bavail, bsize } = statfsSync(inMemory);
    return bavail * bsize >= 4 * 1024 ** 3 ? inMemory : tmpdir();
  } catch {
    return tmpdir();
  }
}

/** Runs targets of packages, at most `parallel` at a time. */
function runMany(targets, parallel, ...which) {
  const args = ['run-many', '-t', ...targets, '--outputStyle=static', `--parallel=${parallel}`];
  return run(join(root, 'node_modules/.bin/nx'), [...args, ...which]);
}

/**
 * Runs a program in the checkout. Its output is kept until `show` is called, and is then shown as it comes; its errors
 * are shown at once.
 */
function run(program, args) {
  const child = spawn(program, args, {
    cwd: root,
    env: { ...environment, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
    shell: process.platform === 'win32',
  });
  let output = '';
  let errors = '';
  let isShown = false;
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output += text;
    if (isShown) process.stdout.write(text);
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    errors += text;
    process.stderr.write(text);
  });
  const end = new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code: code ?? 1, output, errors }));
  });
  // The caller that awaits `end` sees the error. Until then it must not count as unhandled.
  end.catch(() => {});
  const show = () => {
    isShown = true;
    process.stdout.write(output);
  };
  return { show, end };
}
