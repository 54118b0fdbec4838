import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { JobSpec } from '@halogrid/proto';
import { keepRate, rateKey, ratesFile, readRate } from './rates-file.ts';

/** A run whose nodes were at work all the time. */
const busy = (seconds: number) => ({ seconds, busySeconds: seconds });

test('the last rate of each kind of run is kept, of the last 200 kinds', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'halogrid-rates-'));
  t.after(() => rm(folder, { recursive: true }));
  const file = join(folder, 'new', 'rates.json');
  assert.equal(await readRate('a', file), undefined);
  await keepRate('a', 100, busy(2), file);
  await keepRate('b', 90, busy(3), file);
  await keepRate('a', 100, busy(4), file);
  assert.deepEqual([await readRate('a', file), await readRate('b', file)], [25, 30]);
  // Too short to tell, nothing computed, and most of it spent on something else than work.
  await keepRate('a', 3072, { seconds: 1.3, busySeconds: 0.02 }, file);
  await keepRate('a', 100, busy(0.5), file);
  await keepRate('a', 0, busy(5), file);
  assert.equal(await readRate('a', file), 25);
  for (let i = 0; i < 199; i++) await keepRate(`kind ${i}`, 1, busy(1), file);
  assert.deepEqual([await readRate('a', file), await readRate('b', file)], [25, undefined]);
  // A file of another version, or a damaged one, has none.
  await writeFile(file, (await readFile(file, 'utf8')).replace(/"softwareVersion": "[^"]*"/, '"softwareVersion": "0"'));
  assert.equal(await readRate('a', file), undefined);
  await writeFile(file, '{');
  assert.equal(await readRate('a', file), undefined);
});

test('a rate holds for what is computed, what is written, and what computes', () => {
  const pipeline = { operations: [{ kernel: 'lbp', parameters: {}, border: '' }] };
  const spec = JobSpec.fromPartial({ pipeline, mapFormat: 'none' });
  const lbp = 'lbp:convention=nw-cw-msb,labels=all,points=8,radius=1 border=interior';
  assert.equal(rateKey(spec, 'cpu', 2), `2 x cpu, ${lbp}, map none`);
});

test('the file is in the cache folder of the user, if there is one', () => {
  assert.equal(ratesFile({ XDG_CACHE_HOME: '/cache' }), '/cache/halogrid/rates.json');
  assert.equal(ratesFile({ XDG_CACHE_HOME: 'relative' }), undefined);
});
