import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openDevice } from '@halogrid/gpu-node';
import { createPipeline, runReference } from '@halogrid/kernels';
import { noiseImage, staged } from '@halogrid/kernels/testing';

const program = fileURLToPath(new URL('../../bin/halogrid.mjs', import.meta.url));
const cache = mkdtempSync(join(tmpdir(), 'halogrid-tune-'));
after(() => rmSync(cache, { recursive: true }));

const tune = (...args: string[]) =>
  spawnSync(process.execPath, [program, 'tune', ...args], {
    env: { ...process.env, XDG_CACHE_HOME: cache },
    encoding: 'utf8',
  });
const files = () => readdirSync(join(cache, 'halogrid')).filter((name) => name.startsWith('tuning-'));

test('what tune chooses is kept, a device uses it with the same results, and --forget removes it', async () => {
  const tuned = tune('--device', 'software', '--quick');
  assert.equal(tuned.status, 0, tuned.stderr);
  const rows = tuned.stdout.split('\n').filter((line) => line.startsWith('lbp '));
  const named = (output: string) => rows.filter((row) => row.includes(` ${output} `));
  assert.deepEqual([named('map').length, named('histogram').length], [3, 5], tuned.stdout);
  for (const output of ['map', 'histogram']) {
    assert.equal(named(output).filter((row) => row.includes('yes')).length, 1, tuned.stdout);
  }
  const [file] = files();
  const path = join(cache, 'halogrid', file!);
  assert.ok(tuned.stdout.includes(path));

  process.env.XDG_CACHE_HOME = cache;
  const notes: string[] = [];
  const { device } = await openDevice('software', undefined, (line) => notes.push(line));
  assert.deepEqual(notes, [`Using 2 tuned choices of ${path}`]);
  const pipeline = createPipeline([{ kernel: 'lbp', parameters: {} }]);
  const { item, bytes } = staged(pipeline, noiseImage({ width: 300, height: 200 }, 1));
  const staging = await device.acquire(bytes.length);
  staging.bytes.set(bytes);
  const { items } = await device.run(staging, [item], pipeline, false);
  assert.deepEqual(items[0]!.bins, runReference(pipeline, bytes, item, false).bins);
  await device.close();

  const forgotten = tune('--device', 'software', '--forget');
  assert.deepEqual([forgotten.status, forgotten.stdout], [0, `Removed ${path}\n`], forgotten.stderr);
  assert.deepEqual(files(), []);
});
