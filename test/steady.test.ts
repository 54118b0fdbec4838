import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

// Checks the sources of tests: they must not depend on the speed of the machine. Their waits, and the timeouts that
// they give to programs, come from libs/testing; they claim only an order of events or a count.

const checkout = fileURLToPath(new URL('..', import.meta.url));

const rules: [what: string, pattern: RegExp, remedy: string][] = [
  ['a timer', /\bset(?:Timeout|Interval)\b/, 'wait with eventually, within, pause or turns of @halogrid/testing'],
  ['a deadline', /\bAbortSignal\.timeout\b/, 'wait with within of @halogrid/testing'],
  ['a timeout', /\btimeout:/, 'every test ends by --test-timeout; wait with within of @halogrid/testing'],
  ["a program's timeout", /--[a-z-]*(?:timeout|grace)(?:',\s*'|=)\d/, 'give timeoutMs of @halogrid/testing'],
  ['a clock', /\b(?:performance|Date)\.now\(/, 'claim an order or a count; time with beside of @halogrid/testing'],
];

/** Files that are exempt, and why. */
const exceptions: Record<string, string> = {
  'apps/coordinator/src/dispatch/job-spans.test.ts': 'It moves the timers of the code by hand.',
  'apps/coordinator/src/services/answer-parts.test.ts': 'It moves the timers of the code by hand.',
  'libs/imaging/src/video/decoder-pool.test.ts': 'It mocks the timer by which a decoder that hangs is noticed.',
  'libs/leadership/src/leadership.test.ts': 'It moves the timers of the code by hand.',
  'libs/sources/src/testing/servers.ts': 'A server of S3 refuses what was signed at another time.',
  'test/adversarial/reference-decoders.ts':
    'A decoder of others may hang over a damaged file, about which it then says nothing.',
  'test/faults/node-hooks.ts': 'It is loaded into programs, to hold their threads up and to make their clocks jump.',
};

/** A clock that a test passes to code. The test itself does not read it. */
const asClock = /\bnowMs[:=] ?\(\) => performance\.now\(\)/g;
const comment = /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm;

/** The soak test measures durations, and makes no claims about them. */
const isMeasurement = (path: string): boolean => /^test\/soak\//.test(path);

const sources = globSync(
  ['{apps,libs,deploy,lab}/**/*.{test,e2e}.ts', '{apps,libs}/*/src/**/testing/**/*.ts', 'deploy/*.ts', 'test/**/*.ts'],
  { cwd: checkout, exclude: (path) => path.includes('node_modules') },
)
  .filter((path) => !isMeasurement(path) && !path.startsWith('libs/testing/') && path !== 'test/steady.test.ts')
  .sort();

function* found(path: string): Generator<string> {
  const text = readFileSync(join(checkout, path), 'utf8');
  const code = text.replace(comment, (lost) => lost.replace(/[^\n]/g, ' ')).replace(asClock, '');
  for (const [i, line] of code.split('\n').entries()) {
    for (const [what, pattern, remedy] of rules) {
      if (pattern.test(line)) yield `${path}:${i + 1}: ${what}: ${line.trim()} (${remedy})`;
    }
  }
}

test('no test has a timer, a timeout or a clock of its own', () => {
  assert.ok(sources.length > 500, 'the sources of tests are found');
  assert.deepEqual(
    sources.filter((path) => !(path in exceptions)).flatMap((path) => [...found(path)]),
    [],
  );
});

test('every exempt file needs its exemption', () => {
  for (const path of Object.keys(exceptions)) {
    assert.ok(sources.includes(path) && !found(path).next().done, `${path} needs no exemption: remove it`);
  }
});
