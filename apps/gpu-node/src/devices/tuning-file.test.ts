import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { createPipeline } from '@halogrid/kernels';
import { chooseAmong, forgetTuning, readTuning, type TunedChoice, writeTuning } from './tuning-file.ts';

const scratch = mkdtempSync(join(tmpdir(), 'halogrid-test-'));
after(() => rmSync(scratch, { recursive: true }));
const emptyFolder = () => mkdtempSync(join(scratch, 'cache-'));

const adapter = { name: 'GPU', driver: 'driver 1.0' };
const choices: TunedChoice[] = [
  { key: 'lbp/square/map', name: 'word', lanes: { width: 16, height: 16 } },
  { key: 'conv/separable-9-real-f32/map', name: 'workgroup', lanes: { width: 16, height: 16 } },
  { key: 'ldp/order-2/both', name: 'unheard-of', lanes: { width: 1, height: 1 } },
];

/** The tuning that was read, and the lines logged meanwhile. */
async function read(folders: string[], of = adapter) {
  const notes: string[] = [];
  const tuning = await readTuning(of, folders, (line) => notes.push(line));
  return { tuning, notes };
}

test('written choices are read again, but only for their adapter', async () => {
  const folder = join(emptyFolder(), 'made', 'on demand');
  const path = await writeTuning(adapter, choices, [folder]);
  assert.deepEqual(await read([folder]), { tuning: { path, choices }, notes: [] });
  for (const other of [
    { ...adapter, driver: 'driver 1.1' },
    { ...adapter, name: 'GPU 2' },
  ]) {
    assert.deepEqual(await read([folder], other), { tuning: undefined, notes: [] });
  }
});

test('a folder that cannot be written is skipped, and having nowhere to write is one sentence', async () => {
  const folder = emptyFolder();
  const path = await writeTuning(adapter, choices, ['/dev/null/cache', folder]);
  assert.equal((await read(['/dev/null/cache', folder])).tuning?.path, path);
  await assert.rejects(
    writeTuning(adapter, choices, ['/dev/null/cache']),
    /^Error: The choices cannot be kept: .*null/,
  );
});

test('forgotten choices are gone, and forgetting choices that are not there removes nothing', async () => {
  const folder = emptyFolder();
  const path = await writeTuning(adapter, choices, [folder]);
  assert.deepEqual(await forgetTuning(adapter, [folder]), [path]);
  assert.deepEqual(readdirSync(folder), []);
  assert.deepEqual(await forgetTuning(adapter, [folder]), []);
});

const foreign: [why: string, change: (text: string) => string, line: RegExp][] = [
  ['of another version', (text) => text.replace(/"softwareVersion": ".*?"/, '"softwareVersion": "0.0.1"'), /0\.0\.1/],
  ['of another adapter', (text) => text.replace('driver 1.0', 'driver 2.0'), /GPU \(driver 2\.0\)/],
  ['cut short', (text) => text.slice(0, -20), /damaged/],
  ['empty', () => '', /damaged/],
  ['of something else', () => '[1, null]', /damaged/],
  ['with a choice without lanes', (text) => text.replace('"width": 16', '"depth": 16'), /damaged/],
];

for (const [why, change, line] of foreign) {
  test(`a file ${why} is ignored with one line`, async () => {
    const folder = emptyFolder();
    const path = await writeTuning(adapter, choices, [folder]);
    writeFileSync(path, change(readFileSync(path, 'utf8')));
    const { tuning, notes } = await read([folder]);
    assert.equal(tuning, undefined);
    assert.equal(notes.length, 1);
    assert.ok(notes[0]!.startsWith(`Ignoring the tuned choices of ${path}: `));
    assert.match(notes[0]!, line);
    // Tuning again repairs the file.
    await writeTuning(adapter, choices, [folder]);
    assert.deepEqual((await read([folder])).tuning?.choices, choices);
  });
}

test('of several concurrent writers one wins, and a reader meanwhile finds a whole file', async () => {
  const folder = emptyFolder();
  const writes = Array.from({ length: 20 }, (_, i) => [{ ...choices[0]!, lanes: { width: i + 1, height: 1 } }]);
  const written = Promise.all(writes.map((some) => writeTuning(adapter, some, [folder])));
  for (let i = 0; i < 50; i++) assert.deepEqual((await read([folder])).notes, []);
  await written;
  const { tuning } = await read([folder]);
  assert.ok(writes.some(([only]) => only!.lanes.width === tuning!.choices[0]!.lanes.width));
  assert.equal(readdirSync(folder).length, 1);
});

test('a choice holds for every border; an unknown or inexact one is ignored', () => {
  const choose = chooseAmong(choices);
  const chosenFor = (kernel: string, parameters: Record<string, string>, output: 'map' | 'both', border: string) =>
    choose(createPipeline([{ kernel, parameters, border }]).operations[0]!, output, false)?.name;
  assert.equal(chosenFor('lbp', {}, 'map', 'zero'), 'word');
  assert.equal(chosenFor('lbp', { convention: 'nw-cw-lsb' }, 'map', 'wrap'), 'word');
  assert.equal(chosenFor('lbp', {}, 'both', 'zero'), undefined);
  assert.equal(chosenFor('conv', { kernel: 'gaussian-9' }, 'map', 'zero'), undefined);
  assert.equal(chosenFor('ldp', { order: '2' }, 'both', 'zero'), undefined);
});
