import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isThorough } from '@halogrid/testing';
import './own-folders.ts';
import { readJson } from './results.ts';

// The examples of README.md, and the marked examples of other pages, work exactly as they stand there. The first one
// (all with HALOGRID_THOROUGH=1) starts the sources by npx, as users of a checkout do.

const checkout = fileURLToPath(new URL('..', import.meta.url));
const pages = ['README.md', 'docs/operations.md', 'docs/command-line.md'].map((page) =>
  readFileSync(join(checkout, page), 'utf8'),
);
const examples = [...pages.join('\n').matchAll(/^```sh\n(halogrid .*?)^```$/gms)].map((match) => match[1]!.trim());
const outputs = join(checkout, 'halogrid-out');

/** Starts the program of the checkout by npx, or directly, which saves the half second of processor time of npm. */
const byNpx = 'halogrid() { npx halogrid "$@"; }';
const likeNpx = 'halogrid() { node_modules/.bin/halogrid "$@"; }';

/** The paths that examples have written; later examples may read them. */
const written = new Set<string>();
after(() => {
  for (const path of written) rmSync(path, { recursive: true, force: true });
  if (existsSync(outputs) && readdirSync(outputs).length === 0) rmSync(outputs, { recursive: true });
});

test('there are examples', () => assert.ok(examples.length > 0));

for (const [i, example] of examples.entries()) {
  test(example, async () => {
    const out = /--out (\S+)/.exec(example)?.[1];
    const trace = /--trace (\S+)/.exec(example)?.[1];
    const index = /--to (\S+)/.exec(example)?.[1];
    for (const path of [out, trace, index]) {
      // Paths that existed before stay.
      if (path !== undefined && !existsSync(join(checkout, path))) written.add(join(checkout, path));
    }
    const isAsByUsers = i === 0 || isThorough;
    const script = `${isAsByUsers ? byNpx : likeNpx}\n${example}`;
    const shell = spawn('bash', ['-euo', 'pipefail', '-c', script], {
      cwd: checkout,
      env: { ...process.env, ...(isAsByUsers && { HALOGRID_PROGRAM: undefined }) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const said = Promise.all([text(shell.stdout), text(shell.stderr)]);
    const [code] = await once(shell, 'close');
    const [stdout, stderr] = await said;
    assert.equal(code, 0, stderr);
    assert.notEqual(stdout, '');
    if (out) assert.equal(readJson(checkout, out, 'job.json').state, 'complete');
    if (trace) assert.ok(readJson(checkout, trace).traceEvents.length > 0);
  });
}
