import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, beforeEach, suite, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { BucketPrefix } from '@halogrid/sources';
import { setVariables } from '@halogrid/sources/testing-files';
import { startTestS3, type TestS3 } from '@halogrid/sources/testing-servers';
import { JobObjects, removeJobObjects } from './job-objects.ts';

// What a job keeps in a bucket for other coordinators. Each has a folder of its own, as on another machine.

const root = await mkdtemp(join(tmpdir(), 'halogrid-job-objects-'));
const out = 's3://results/out';
let store: TestS3;
/** Requests that the store answers before it refuses all. */
let answered = Number.POSITIVE_INFINITY;
let tests = 0;
const of = (machine: string) => ({
  objects: `${out}/.halogrid/jobs/job-${tests}`,
  scratch: pathToFileURL(join(root, `${tests}-${machine}`)).href,
});
const pathOn = (machine: string, name: string): string => join(root, `${tests}-${machine}`, name);

// Hooks of a suite are for its tests alone, while files that share a process share all others.
suite('objects of a job', () => {
  before(async () => {
    store = await startTestS3({
      accessKeyId: 'AK',
      secretAccessKey: 'SK',
      region: 'us-east-1',
      bucket: 'results',
      fault: () => (answered-- > 0 ? undefined : 'refuse'),
    });
    setVariables(store.environment);
  });

  after(async () => {
    await store.close();
    await rm(root, { recursive: true });
  });

  beforeEach(() => {
    tests++;
    answered = Number.POSITIVE_INFINITY;
  });

  const files = {
    'parts/p/pipelines/codes/sources.parquet': 'rows',
    'map/0/0-0-4-4.u8': 'pixels',
    'pipelines/codes/preview/0/0-0-4-4.u8': '',
  };

  async function write(machine: string, written: Record<string, string>): Promise<void> {
    for (const [name, text] of Object.entries(written)) {
      await mkdir(dirname(pathOn(machine, name)), { recursive: true });
      await writeFile(pathOn(machine, name), text);
    }
  }

  /** A job's leader keeps the files, and is lost. */
  async function keepAndEnd(machine: string): Promise<void> {
    await write(machine, files);
    const kept = JobObjects.of(of(machine))!;
    for (const name of Object.keys(files)) await kept.keep(name);
    await JobObjects.end(of(machine));
    store.objects.set(`out/.halogrid/jobs/job-${tests}/log-1/0-1-a`, Buffer.from('a group'));
  }

  async function filesOn(machine: string): Promise<Record<string, string>> {
    const names = await readdir(pathOn(machine, ''), { recursive: true });
    const found: [string, string][] = [];
    for (const name of names) {
      if ((await stat(pathOn(machine, name))).isFile())
        found.push([name, await readFile(pathOn(machine, name), 'utf8')]);
    }
    return Object.fromEntries(found);
  }

  test('a job that no other coordinator goes on with has no objects', () => {
    assert.equal(JobObjects.of({ scratch: 'file:///scratch' }), undefined);
  });

  test('another machine gets every file but the logs, however often the store fails meanwhile', async () => {
    await keepAndEnd('a');
    for (let failsAt = 0; ; failsAt++) {
      const machine = `b${failsAt}`;
      await mkdir(pathOn(machine, ''));
      const there = JobObjects.of(of(machine))!;
      answered = failsAt;
      const isDone = await there.brought().then(
        () => true,
        () => false,
      );
      answered = Number.POSITIVE_INFINITY;
      await there.brought();
      assert.deepEqual(await filesOn(machine), files);
      await JobObjects.end(of(machine));
      if (isDone) return;
    }
  });

  test('an older copy is completed, and a file that this process keeps meanwhile is not brought', async () => {
    await keepAndEnd('a');
    const [first] = Object.keys(files) as [keyof typeof files];
    await write('b', { [first]: 'row' });
    const there = JobObjects.of(of('b'))!;
    // A part has a temporary name until all of its files are kept.
    await write('b', { 'parts/own.tmp/sources.parquet': 'own' });
    await there.keep('parts/own/sources.parquet', pathOn('b', 'parts/own.tmp/sources.parquet'));
    await there.brought();
    assert.deepEqual(await filesOn('b'), { ...files, 'parts/own.tmp/sources.parquet': 'own' });
    await JobObjects.end(of('b'));
  });

  test('a job that ends makes no folders any more, and only its objects are removed', async () => {
    await keepAndEnd('a');
    const there = JobObjects.of(of('b'))!;
    const brought = there.brought().catch(() => 'ended');
    await JobObjects.end(of('b'));
    assert.equal(await brought, 'ended');
    await assert.rejects(stat(pathOn('b', '')), { code: 'ENOENT' });
    store.objects.set('out/.halogrid/jobs/other/parts/a', Buffer.from(''));
    await removeJobObjects(new BucketPrefix(out), `job-${tests}`);
    const left = [...store.objects.keys()].filter((key) => key.includes(`job-${tests}/`) || key.includes('/other/'));
    assert.deepEqual(left, ['out/.halogrid/jobs/other/parts/a']);
  });
});
