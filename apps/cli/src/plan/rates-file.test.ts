import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { JobSpec } from '@halogrid/proto';
import { keepRate, rateKey, ratesFile, readRate } from './rates-file.ts';

test('the last rate of each kind of run is kept, of the last 200 kinds', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'halogrid-rates-'));
  t.after(() => rm(folder, { recursive: true }));
  const file = join(folder, 'new', 'rates.json');
  assert.equal(await readRate('a', file), undefined);
  await keepRate('a', 100, 2, file);
  await keepRate('b', 90, 3, file);
  await keepRate('a', 100, 4, file);
  assert.deepEqual([await readRate('a', file), await readRate('b', file)], [25, 30]);
  // Too short to tell, and nothing computed.
  await keepRate('a', 100, 0.5, file);
  await keepRate('a', 0, 5, file);
  assert.equal(await readRate('a', file), 25);
  for (let i = 0; i < 199; i++) await keepRate(`kind ${i}`, 1, 1, file);
  assert.deepEqual([await readRate('a', file), await readRate('b', file)], [25, undefined]);
  // Of another version, or damaged: none.
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
