import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { within } from '@halogrid/testing';

const halogrid = fileURLToPath(new URL('../../bin/halogrid.mjs', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'halogrid-run-'));
after(() => rmSync(folder, { recursive: true }));

const run = (...args: string[]) =>
  spawnSync(process.execPath, [halogrid, 'run', ...args], { cwd: folder, encoding: 'utf8' });

/** Writes a 3x3 image. Only the code of its one inner pixel is counted. */
function writeImage(name: string, pixels: number[]): void {
  writeFileSync(join(folder, name), Buffer.concat([Buffer.from('P5\n3 3\n255\n'), Buffer.from(pixels)]));
}

test('images go in, an exact histogram comes out, and unreadable inputs are set aside', () => {
  mkdirSync(join(folder, 'in'));
  // Clockwise from the upper left, 1 where a neighbour is at least 5: 1 0 1 0 1 0 1 0.
  writeImage('in/a.pgm', [9, 1, 5, 3, 5, 0, 8, 2, 7]);
  writeImage('in/b.pgm', [9, 1, 5, 3, 5, 0, 8, 2, 7]);
  writeImage('in/c.pgm', [4, 4, 4, 4, 5, 4, 4, 4, 4]);
  writeFileSync(join(folder, 'in/d.png'), 'no picture');

  const { status, stdout, stderr } = run('in/*', '--nodes', '2', '--batch', '1', '--device', 'cpu', '--json');
  assert.equal(status, 3, stderr);

  const summary = JSON.parse(stdout);
  assert.deepEqual(summary.counts, { sources: 4, frames: 3, shards: 4, attempts: 4, pixels: 27, quarantined: 1 });
  assert.match(summary.digest, /^[0-9a-f]{64}$/);
  assert.equal(summary.out, join(folder, 'halogrid-out', summary.id));

  const read = (name: string) => readFileSync(join(summary.out, name), 'utf8');
  const histogram = JSON.parse(read('histogram.json'));
  assert.equal(histogram.counted, 3);
  const bins = Array.from({ length: 256 }, (_, code) => (code === 0b10101010 ? 2 : code === 0 ? 1 : 0));
  assert.deepEqual(histogram.channels, [{ name: 'gray', bins }]);
  const [error, ...others] = read('errors.jsonl').trim().split('\n');
  assert.match(JSON.parse(error!).uri, /d\.png$/);
  assert.deepEqual(others, []);
});

test('a job does not fail when the reader of its summary goes away', async () => {
  writeImage('lonely.pgm', [9, 1, 5, 3, 5, 0, 8, 2, 7]);
  const args = ['run', 'lonely.pgm', '--out', 'unread', '--device', 'cpu'];
  const child = spawn(process.execPath, [halogrid, ...args], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  child.stdout.destroy();
  assert.deepEqual(await within('the end of the run', once(child, 'exit')), [0, null]);
  assert.equal(JSON.parse(readFileSync(join(folder, 'unread/job.json'), 'utf8')).state, 'complete');
});

test('results that cannot be printed are one sentence and exit code 1', { skip: !existsSync('/dev/full') }, () => {
  writeImage('loud.pgm', [9, 1, 5, 3, 5, 0, 8, 2, 7]);
  const args = ['plan', 'loud.pgm', '--device', 'cpu'];
  const full = openSync('/dev/full', 'w');
  const { status, stderr } = spawnSync(process.execPath, [halogrid, ...args], {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', full, 'pipe'],
  });
  closeSync(full);
  assert.equal(status, 1);
  assert.match(stderr, /^halogrid: The results cannot be printed: ENOSPC[^\n]*\n$/m);
});

test('a source that does not exist is one sentence, exit code 2, and nothing written', () => {
  const { status, stdout, stderr } = run('nowhere.png', '--out', 'never', '--device', 'cpu');
  assert.deepEqual([status, stdout], [2, '']);
  assert.match(stderr, /^halogrid: .*nowhere\.png.*\n$/);
  assert.equal(existsSync(join(folder, 'never')), false);
});
