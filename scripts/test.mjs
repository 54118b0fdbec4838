// npm test: installs what is missing, then runs every check and every project's tests, or shows what they said where nothing that
// they depend on has changed since. Ends with 'N passed, N failed'.
import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { environment, install, root } from './install.mjs';
import { testTotals } from './test-totals.mjs';

install();

const isThorough = process.env.HALOGRID_THOROUGH === '1';
const scratch = mkdtempSync(join(scratchParent(), 'halogrid-tests-'));
// Some tests look at what another user sees.
chmodSync(scratch, 0o755);
process.once('exit', () => rmSync(scratch, { recursive: true, force: true, maxRetries: 3 }));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(130));

const reporter = new URL('test-reporter.mjs', import.meta.url).href;
const settings = {
  // Nx: no background process, no questions, no cloud, plain output.
  NX_DAEMON: 'false',
  NX_INTERACTIVE: 'false',
  NX_NO_CLOUD: 'true',
  NX_TUI: 'false',
  FORCE_COLOR: '0',
  TMPDIR: scratch,
  // Tests leave the user's folders alone; whole-program tests do so without this, too: see test/own-folders.ts.
  XDG_CACHE_HOME: join(root, 'node_modules/.cache'),
  XDG_DATA_HOME: join(root, 'node_modules/.cache/data'),
  // Most of the time of a small test file goes into compiling what it imports: with this, a third less in all (measured).
  NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/compiled'),
  // Test files of the whole system at a time; they come last, beside what is left of the packages. Two more than cores, because some wait; as many as cores where everything is thorough, because then most have
  // work.
  TEST_CONCURRENCY: String(Math.max(2, availableParallelism() + (isThorough ? 0 : 2))),
  // Packages whose test files leave nothing behind run them in one process: what files import is loaded once, which is a fifth of
  // the processor time of the coordinator's and the nodes' (measured). The coordinator's collects its garbage on one thread: of the
  // millions of promises of simulated clusters, threads that help take a quarter more processor time (measured: 42 s instead of 32).
  TEST_ISOLATION: isThorough ? 'process' : 'none',
  NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --test-reporter=${reporter} --test-reporter-destination=stdout`,
};

const tests = await run(
  join(root, 'node_modules/.bin/nx'),
  // One more than cores: the tests of a package wait, too, for two fifths of the coordinator's (measured).
  [
    'run-many',
    '-t',
    'check',
    'test',
    'test-scripts',
    '--outputStyle=static',
    `--parallel=${availableParallelism() + 1}`,
  ],
  settings,
);
const { passed, failed, skipped } = testTotals(tests.output);

if (tests.code !== 0 && failed === 0) console.log('The checks failed, or a test run ended without totals: see above.');
if (skipped > 0) console.log(`${skipped} skipped: their names say why.`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = tests.code === 0 && failed === 0 && passed > 0 ? 0 : 1;

/**
 * Where test files make their folders. In memory, where there is plenty of it and not everything is thorough: the files of tests
 * are small and many, and a disk makes the dearest of them take a third longer (measured: 72 s instead of 54).
 */
function scratchParent() {
  const inMemory = '/dev/shm';
  if (isThorough || process.env.TMPDIR !== undefined) return tmpdir();
  try {
    const { bavail, bsize } = statfsSync(inMemory);
    return bavail * bsize >= 4 * 1024 ** 3 ? inMemory : tmpdir();
  } catch {
    return tmpdir();
  }
}

/** Runs a program in the checkout, shows its output as it comes and resolves with it. */
function run(program, args, settings = {}) {
  const child = spawn(program, args, {
    cwd: root,
    env: { ...environment, ...settings },
    stdio: ['ignore', 'pipe', 2],
    shell: process.platform === 'win32',
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output += text;
    process.stdout.write(text);
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code: code ?? 1, output }));
  });
}
