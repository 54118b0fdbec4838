// npm test [-- [--try-again] [TARGET…]]: installs what is missing, then runs every check and every project's tests, and
// what is named beside them (check-generated, check-deployment, check-postgres), or shows what they said where nothing
// that they depend on has changed since. With --try-again a test file that failed is run once more, alone, and is
// called unsteady if it passes. Ends with 'N passed, N failed'.
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
// Some tests look at what another user sees.
chmodSync(scratch, 0o755);
process.once('exit', () => rmSync(scratch, { recursive: true, force: true, maxRetries: 3 }));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(130));

/** Where runs of tests that failed say so. */
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
  // Tests leave the user's folders alone; whole-program tests do so without this, too: see test/own-folders.ts.
  XDG_CACHE_HOME: join(root, 'node_modules/.cache'),
  XDG_DATA_HOME: join(root, 'node_modules/.cache/data'),
  // Most of the time of a small test file goes into compiling what it imports: with this, a third less in all
  // (measured).
  NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/compiled'),
  // Test files of the whole system at a time. One more than cores, because some wait.
  TEST_CONCURRENCY: String(Math.max(2, availableParallelism() + 1)),
  // Packages whose test files leave nothing behind run them in one process: what files import is loaded once, which is
  // a fifth of the processor time of the coordinator's and the nodes' (measured).
  TEST_ISOLATION: 'none',
  TEST_FAILURES: failures,
};

// The tests of the whole system wait for timeouts and dying processes, those of packages compute: side by side, cores
// are busy to the end. Nx would begin the former last, because no package depends on them.
const wholeSystem = '@halogrid/test';
const parallel = Math.max(2, availableParallelism());
const usual = ['check', 'test', 'test-scripts'];
const runs = [runMany(usual, parallel, `--exclude=${wholeSystem}`), runMany(usual, 1, `--projects=${wholeSystem}`)];
if (more.length > 0) runs.push(runMany(more, parallel));
const ended = [];
// One after another, so that lines of one stand together.
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
 * Where test files make their folders. In memory, where there is plenty of it: the files of tests are small and many,
 * and a disk makes the dearest of them take a third longer (measured: 72 s instead of 54).
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

/** Runs targets of packages, so many at a time. */
function runMany(targets, parallel, ...which) {
  const args = ['run-many', '-t', ...targets, '--outputStyle=static', `--parallel=${parallel}`];
  return run(join(root, 'node_modules/.bin/nx'), [...args, ...which]);
}

/**
 * Runs a program in the checkout; its output is kept until it is to be shown, and from then on shown as it comes; its
 * errors are shown at once.
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
  // Whoever waits for it sees the error; until then it is not an unhandled one.
  end.catch(() => {});
  const show = () => {
    isShown = true;
    process.stdout.write(output);
  };
  return { show, end };
}
