import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createClaim, isLeftOver, overwriteClaim, removeLeftOvers, replaceClaim, restoreClaim } from './claim-file.ts';

const before = '.job.json.00000000-0000-4000-8000-000000000000';
const unfinished = '.claim.00000000-0000-4000-8000-000000000000';

test('if many processes claim a folder or take it over at once, one gets it, and nothing else is left', async (t) => {
  const folder = await emptyFolder(t);
  const everyone = Array.from({ length: 20 }, (_, i) => `process ${i}`);
  const created = await Promise.all(everyone.map((text) => createClaim(folder, text)));
  assert.equal(created.filter(Boolean).length, 1);
  const first = await readFile(join(folder, 'job.json'), 'utf8');
  assert.equal(first, everyone[created.indexOf(true)]);

  const others = everyone.map((text) => `${text}, later`);
  const replaced = await Promise.all(others.map((text) => replaceClaim(folder, text, (text) => text === first)));
  assert.equal(replaced.filter(Boolean).length, 1);
  assert.equal(await readFile(join(folder, 'job.json'), 'utf8'), others[replaced.indexOf(true)]);
  assert.deepEqual(await readdir(folder), ['job.json']);
});

test('a claim that is not the expected one stays', async (t) => {
  const folder = await emptyFolder(t);
  await createClaim(folder, 'of another');
  assert.equal(await replaceClaim(folder, 'ours', (text) => text === 'of one that ended'), false);
  await assert.rejects(
    replaceClaim(folder, 'ours', () => {
      throw new Error('no');
    }),
    /no/,
  );
  assert.equal(await readFile(join(folder, 'job.json'), 'utf8'), 'of another');
  assert.deepEqual(await readdir(folder), ['job.json']);
});

test('a claim is overwritten in the blocks that it has, and nothing of a longer one is left', async (t) => {
  const folder = await emptyFolder(t);
  await createClaim(folder, JSON.stringify({ state: 'running', of: 'a process' }));
  assert.equal(await overwriteClaim(folder, '{"state":"failed"}'), true);
  assert.deepEqual(JSON.parse(await readFile(join(folder, 'job.json'), 'utf8')), { state: 'failed' });
  assert.equal(await overwriteClaim(folder, JSON.stringify({ state: 'x'.repeat(2 ** 20) })), false);
  assert.deepEqual(JSON.parse(await readFile(join(folder, 'job.json'), 'utf8')), { state: 'failed' });
});

/** The files that a process leaves if it is killed after each step of taking a folder over from 'old'. */
const killedAfter: Record<string, Record<string, string>> = {
  'taking the old claim away': { [before]: 'old' },
  'a part of the new one': { [before]: 'old', [unfinished]: 'n' },
  'writing the new one': { [before]: 'old', [unfinished]: 'new' },
  'putting it in its place': { [before]: 'old', [unfinished]: 'new', 'job.json': 'new' },
  'removing its other name': { [before]: 'old', 'job.json': 'new' },
};

for (const [step, files] of Object.entries(killedAfter)) {
  test(`a process that is killed after ${step} keeps no other out, and its files are removed`, async (t) => {
    const folder = await emptyFolder(t);
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    await restoreClaim(folder);
    const found = await readFile(join(folder, 'job.json'), 'utf8');
    assert.equal(found, files['job.json'] ?? 'old');
    assert.ok(await replaceClaim(folder, 'next', (text) => text === found));
    await removeLeftOvers(folder, 'next');
    assert.deepEqual(await readdir(folder), ['job.json']);
    assert.equal(await readFile(join(folder, 'job.json'), 'utf8'), 'next');
  });
}

test('a claim that a process renamed by mistake is not removed as a leftover', async (t) => {
  const folder = await emptyFolder(t);
  await createClaim(folder, 'ours');
  await rename(join(folder, 'job.json'), join(folder, before));
  await removeLeftOvers(folder, 'ours');
  await restoreClaim(folder);
  assert.equal(await readFile(join(folder, 'job.json'), 'utf8'), 'ours');
});

test('other files are not leftovers, and a missing folder has none', async (t) => {
  for (const name of ['job.json', '.job.json', '.job.json.old', '.claim', 'maps']) assert.ok(!isLeftOver(name), name);
  await restoreClaim(join(await emptyFolder(t), 'missing'));
});

async function emptyFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'halogrid-claim-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
