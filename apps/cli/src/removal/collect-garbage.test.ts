import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { BucketPrefix } from '@halogrid/sources';
import { setVariables } from '@halogrid/sources/testing-files';
import { startTestS3, type TestS3 } from '@halogrid/sources/testing-servers';
import { memoryFolder } from '@halogrid/testing';
import { type CollectChoice, collectGarbage } from './collect-garbage.ts';

// What `gc` finds in a bucket and below it, and removes of that: jobs are told apart there by their claims.

const nowMs = Date.parse('2026-06-30T00:00:00Z');
const day = 24 * 3600e3;
const daysAgo = (days: number): string => new Date(nowMs - days * day).toISOString();

let folder: string;
let store: TestS3;
let refuses: (key: string) => boolean = () => false;
before(async () => {
  folder = await mkdtemp(join(memoryFolder, 'halogrid-gc-'));
  store = await startTestS3({
    accessKeyId: 'AK',
    secretAccessKey: 'SK',
    region: 'us-east-1',
    bucket: 'store',
    pageKeys: 3,
    changed: (key) => (key.includes('/claims/') ? daysAgo(3) : undefined),
    fault: ({ url = '' }) => (refuses(decodeURIComponent(url)) ? 'refuse' : undefined),
  });
  setVariables({ ...store.environment, HALOGRID_SCRATCH: folder });
});
after(async () => {
  await store?.close();
  await rm(folder, { recursive: true, force: true });
});

const put = (key: string, content: object | string = ''): void =>
  void store.objects.set(key, Buffer.from(typeof content === 'string' ? content : JSON.stringify(content)));
const jobOf = (id: string, state: string, days: number) => ({ id, state, specification: {}, finished: daysAgo(days) });
const claim = (id: string, host: string) => ({
  ...{ id, state: 'running', specification: {} },
  coordinator: { host, pid: 2 ** 30 },
});

beforeEach(() => {
  refuses = () => false;
  store.objects.clear();
  put('results/old/job.json', jobOf('old', 'complete', 40));
  put('results/old/maps/a.tif', 'map');
  put('results/old/notes.txt', 'mine');
  put('results/old/.halogrid/claims/00000001.json', claim('old', 'rack-1'));
  put('results/old/.halogrid/claims/00000002.json', { id: 'old', state: 'ended' });
  put('results/young/job.json', jobOf('young', 'complete', 2));
  put('results/young/inside/job.json', jobOf('inside', 'failed', 50));
  put('parts/1/job.json', jobOf('part', 'part', 40));
  put('parts/1/.halogrid/log-1', 'log');
  put('results/left/.halogrid/claims/00000001.json', claim('left', hostname()));
  put('results/elsewhere/.halogrid/claims/00000001.json', claim('elsewhere', 'rack-1'));
  put('archive/frames/1.jpg', 'a source');
});

/** Fates by job. */
async function collect(choice: Partial<CollectChoice>, roots = ['s3://store']): Promise<Record<string, string>> {
  const { judged, failures } = await collectGarbage(roots, { nowMs, ...choice });
  assert.deepEqual(failures, []);
  return Object.fromEntries(judged.map(({ output, fate, why }) => [output.jobId, `${fate} ${why}`.trim()]).sort());
}

const elsewhere = "keep the machine 'rack-1' may run it; look there, or give --coordinator";
const left = 'keep unfinished, nobody leads it';

test('outputs of any depth are judged as in folders, and nothing else is touched', async () => {
  const all = [...store.objects.keys()];
  const shown = { old: 'keep', young: 'keep', inside: 'keep', part: 'keep', left, elsewhere };
  assert.deepEqual(await collect({}), Object.fromEntries(Object.entries(shown).sort()));
  const would = await collect({ olderThanMs: 30 * day, dryRun: true });
  assert.deepEqual([...store.objects.keys()], all);
  assert.deepEqual(await collect({ olderThanMs: 30 * day }), would);
  assert.deepEqual(
    Object.keys(would).filter((job) => would[job] === 'remove old'),
    ['inside', 'old', 'part'],
  );
  const kept = [...store.objects.keys()].filter((key) => !key.includes('/claims/')).sort();
  assert.deepEqual(kept, ['archive/frames/1.jpg', 'results/old/notes.txt', 'results/young/job.json']);
});

test('what interrupted jobs left goes if it is asked for and old, with their uploads', async () => {
  const prefix = new BucketPrefix('s3://store/results/left');
  await prefix.uploads.begin('maps/a.tif', 'tag');
  const { left: young } = await collect({ unfinished: true, olderThanMs: 4 * day });
  assert.equal(young, 'keep unfinished, nobody leads it, but it is not old');
  const { left: removed, elsewhere: other } = await collect({ unfinished: true, olderThanMs: 3 * day });
  assert.deepEqual([removed, other], ['remove unfinished, nobody leads it', elsewhere]);
  assert.deepEqual(await Array.fromAsync(prefix.uploads.list()), []);
  const jobs = new Map();
  assert.match((await collect({ unfinished: true, jobs })).elsewhere!, /^keep .* or give --older-than$/);
  const aged = await collect({ unfinished: true, olderThanMs: 0, jobs });
  assert.equal(aged.elsewhere, 'remove unfinished, nobody leads it');
});

test('uploads that no job completes go, and uploads of other programs are counted', async () => {
  const of = async (name: string): Promise<void> =>
    void (await new BucketPrefix('s3://store').uploads.begin(name, 'tag'));
  for (const name of ['results/young/maps/a.tif', 'parts/1/.halogrid/parts/x', 'archive/b', 'results/left/job.json']) {
    await of(name);
  }
  const strays = async (choice: Partial<CollectChoice>): Promise<string[]> => {
    const found = await collectGarbage(['s3://store'], { nowMs: Date.parse('2100-01-01T00:00:00Z'), ...choice });
    return found.strays.map(({ path, fate, uploads }) => `${fate} ${uploads.length} ${path}`).sort();
  };
  const kept = ['keep 1 s3://store/parts/1', 'keep 1 s3://store/results/young', 'keep 1 undefined'];
  assert.deepEqual(await strays({}), kept);
  assert.deepEqual(await strays({ unfinished: true, olderThanMs: 100_000 * day }), kept, 'they are younger');
  const gone = ['keep 1 undefined', 'remove 1 s3://store/parts/1', 'remove 1 s3://store/results/young'];
  assert.deepEqual(await strays({ unfinished: true, dryRun: true }), gone);
  assert.deepEqual(await strays({ unfinished: true }), gone);
  const names = (await Array.fromAsync(new BucketPrefix('s3://store').uploads.list())).map(({ name }) => name);
  assert.deepEqual(names, ['archive/b'], 'the upload of the interrupted job went with it');
});

test('a folder and a prefix at once; what cannot be read is named, and the rest is done', async () => {
  await mkdir(join(folder, 'here'));
  await writeFile(join(folder, 'here', 'job.json'), JSON.stringify(jobOf('here', 'complete', 40)));
  refuses = (url) => url.includes('results/old/.halogrid');
  const { judged, failures } = await collectGarbage([folder, 's3://store/results', 's3://none'], {
    nowMs,
    olderThanMs: 30 * day,
  });
  assert.deepEqual(judged.map(({ output }) => output.jobId).sort(), ['elsewhere', 'here', 'inside', 'left', 'young']);
  assert.equal(failures.length, 3, failures.join('\n'));
  assert.match(
    failures[0]!,
    /^Unfinished uploads below 's3:\/\/none' cannot be listed: The bucket 'none' does not exist/,
  );
  assert.match(failures[1]!, /^'s3:\/\/store\/results\/old' cannot be read: Access to .* is denied: 403 AccessDenied/);
  assert.match(failures[2]!, /^'s3:\/\/none' cannot be read: The bucket 'none' does not exist/);
});
