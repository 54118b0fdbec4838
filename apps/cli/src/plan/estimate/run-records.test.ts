import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type KeptRun, keepRun, parseRuns, readRuns, runsFile } from './run-records.ts';

const run: KeptRun = {
  machine: 'm',
  device: 'cpu',
  isChosen: true,
  startFactor: 1.5,
  slowdown: 1,
  parts: { job: 0.3, 'decode jpeg': 2 },
  seconds: 3,
};
let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'halogrid-runs-'));
});
after(() => rm(folder, { recursive: true }));

test('runs are remembered by machine, the last 200 of all', async () => {
  const file = join(folder, 'new', 'runs.json');
  assert.deepEqual(await readRuns('m', file), []);
  await keepRun(run, file);
  await keepRun({ ...run, machine: 'other' }, file);
  await keepRun({ ...run, seconds: 4 }, file);
  assert.deepEqual(await readRuns('m', file), [run, { ...run, seconds: 4 }]);
  const text = await readFile(file, 'utf8');
  const [line] = text.split('\n').slice(1);
  await writeFile(file, text.replace(`${line}\n`, `${`${line}\n`.repeat(300)}`));
  await keepRun({ ...run, seconds: 5 }, file);
  const kept = await readRuns('m', file);
  assert.equal(kept.length, 199);
  assert.equal(kept.at(-1)!.seconds, 5);
});

test('a file that is damaged or of another version counts for nothing, and is replaced', async () => {
  const file = join(folder, 'runs.json');
  await keepRun(run, file);
  const text = await readFile(file, 'utf8');
  assert.deepEqual(parseRuns(text), [run]);
  for (const [from, to] of [
    [text, '{'],
    [text, 'null'],
    [text, '{"softwareVersion":1,"runs":{}}'],
    [/"softwareVersion":"[^"]*"/, '"softwareVersion":"0"'],
    [/"runs":\[[\s\S]*\]/, '"runs":{}'],
    [/"runs":\[[\s\S]*\]/, '"runs":[null]'],
    ['"seconds":3', '"seconds":-3'],
    ['"seconds":3', '"seconds":1e999'],
    ['"decode jpeg":2', '"decode jpeg":"2"'],
    ['"slowdown":1', '"slowdown":0.1'],
    ['"startFactor":1.5,', ''],
    ['"device":"cpu"', '"device":"abacus"'],
    ['"parts":{', '"parts":null,"others":{'],
    ['"parts":{', '"parts":{},"others":{'],
  ] as const) {
    const damaged = text.replace(from, to);
    assert.notEqual(damaged, text);
    assert.deepEqual(parseRuns(damaged), [], damaged);
  }
  await writeFile(file, '{');
  assert.deepEqual(await readRuns('m', file), []);
  await keepRun(run, file);
  assert.deepEqual(await readRuns('m', file), [run]);
});

test('the file is in the cache folder of the user', () => {
  assert.equal(runsFile({ XDG_CACHE_HOME: '/cache' }), '/cache/halogrid/runs.json');
});
