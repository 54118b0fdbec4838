import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, beforeEach, suite, test } from 'node:test';
import { outputPath } from '@halogrid/jobs/output-paths';
import type { JobSpec } from '@halogrid/proto';
import { exists, type Move, movesPath, newFilesPath, takeOverOutput } from '@halogrid/results/publish-output';
import { setVariables } from '@halogrid/sources/testing-files';
import { startTestS3, type TestS3 } from '@halogrid/sources/testing-servers';
import { isThorough } from '@halogrid/testing';
import { claimOutputFolder, findUnfinished, releaseOutputFolder, resumeOutputFolder } from '../output-folder.ts';
import { readStored, removeStored } from '../stored-outputs.ts';
import { publishToBucket } from './bucket-output.ts';

// Outputs in a bucket. The server fails where a test says, and coordinators are on machines with their own scratch.

const root = await mkdtemp(join(tmpdir(), 'halogrid-bucket-'));
let store: TestS3;
/** Requests that the store answers before it refuses all. */
let answered = Number.POSITIVE_INFINITY;
let tests = 0;
let out = '';

// Hooks of a suite are for its tests alone, while files that share a process share all others.
suite('outputs in a bucket', () => {
  before(async () => {
    store = await startTestS3({
      accessKeyId: 'AK',
      secretAccessKey: 'SK',
      region: 'us-east-1',
      bucket: 'results',
      fault: () => (answered-- > 0 ? undefined : 'refuse'),
      // What was written a moment ago is not listed.
      listsLate: (key) => key.includes('/claims/') && isNewest(key),
    });
    setVariables(store.environment);
  });

  after(async () => {
    await store.close();
    await rm(root, { recursive: true, force: true });
  });

  beforeEach(() => {
    answered = Number.POSITIVE_INFINITY;
    store.objects.clear();
    out = `s3://results/job ${tests++}`;
    useMachine('a');
  });

  const useMachine = (name: string): void => {
    process.env.HALOGRID_SCRATCH = join(root, `${tests}-${name}`);
  };

  const isNewest = (key: string): boolean => {
    const claims = [...store.objects.keys()].filter((one) => one.includes('/claims/')).sort();
    return claims.at(-1) === key;
  };

  const specOf = (changes: Partial<JobSpec> = {}): JobSpec => ({
    sources: ['file:///in'],
    pipeline: { operations: [{ kernel: 'lbp', parameters: { convention: 'nw-cw-msb' }, border: 'interior' }] },
    op: [],
    out,
    mapFormat: 'zarr',
    tilePx: 0,
    batchFrames: 0,
    grid: { rows: 1, columns: 1 },
    ...changes,
  });

  /** The objects below the output, by name, without what jobs need while they run. */
  function output(): Record<string, string> {
    const prefix = `${out.slice('s3://results/'.length)}/`;
    const files = [...store.objects].filter(([key]) => key.startsWith(prefix) && !key.includes('/.halogrid/'));
    return Object.fromEntries(files.map(([key, bytes]) => [key.slice(prefix.length), bytes.toString()]).sort());
  }

  const stateOf = (files: Record<string, string>): [id?: string, state?: string] => {
    const { id, state } = JSON.parse(files['job.json'] ?? '{}');
    return [id, state];
  };

  /** What the job writes: each file has its id. */
  const filesOf = (jobId: string, spec: JobSpec): Record<string, string> => ({
    'features.parquet': `features of ${jobId}`,
    'maps/new.zarr/c/0/0': `map of ${jobId}`,
    'maps/new.zarr/zarr.json': `map of ${jobId}`,
    'preview/new.png': `preview of ${jobId}`,
    'job.json': JSON.stringify({ id: jobId, state: 'complete', specification: spec }),
  });

  /** Puts the output of a job together, as finaliseJob does. */
  async function prepare(jobId: string, spec: JobSpec, moves: Move[] = []): Promise<Record<string, string>> {
    const folder = outputPath(spec.out);
    assert.equal(await takeOverOutput(folder, 1), false);
    const files = filesOf(jobId, spec);
    for (const [name, text] of Object.entries(files)) {
      const path = join(newFilesPath(folder, 1), name);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, text);
    }
    await writeFile(movesPath(folder, 1), moves.map((move) => `${JSON.stringify(move)}\n`).join(''));
    return files;
  }

  async function claim(jobId: string, spec = specOf(), isShared = false, warnings: string[] = []): Promise<void> {
    await claimOutputFolder(spec.out, { jobId, spec }, { isShared, warn: (sentence) => warnings.push(sentence) });
    releaseOutputFolder(spec.out);
  }

  /** A complete output of the job. */
  async function publish(jobId: string, spec = specOf()): Promise<Record<string, string>> {
    await claim(jobId, spec);
    const files = await prepare(jobId, spec);
    await publishToBucket(spec.out, jobId, 1);
    await rm(outputPath(spec.out), { recursive: true });
    return files;
  }

  test('an output appears with all of its files, job.json last, and its folder has none of them', async () => {
    const spec = specOf();
    await claim('first');
    const files = await prepare('first', spec);
    assert.deepEqual(output(), {});
    const before = store.requests.length;
    await publishToBucket(out, 'first', 1);
    assert.deepEqual(output(), files);
    const completed = store.requests.slice(before).filter((line) => /^POST .*uploadId=/.test(line));
    assert.match(completed.at(-1)!, /job\.json/);
  });

  test('a job that follows replaces files, keeps maps under new names and removes the others', async () => {
    await publish('first');
    const more = { ...specOf(), priority: 1 };
    await claim('second', more);
    const folder = outputPath(out);
    assert.ok(await exists(join(folder, 'features.parquet')), 'tables come along');
    assert.deepEqual(await readdir(join(folder, 'maps')), ['new.zarr']);
    assert.deepEqual(await readdir(join(folder, 'maps', 'new.zarr')), [], 'maps do not');
    assert.equal(stateOf(output())[1], 'complete', 'the earlier output stays until the next one is complete');
    const files = await prepare('second', more, [{ keep: 'maps/new.zarr', as: 'maps/kept.zarr' }]);
    await publishToBucket(out, 'second', 1);
    const kept = { 'maps/kept.zarr/c/0/0': 'map of first', 'maps/kept.zarr/zarr.json': 'map of first' };
    assert.deepEqual(output(), Object.fromEntries(Object.entries({ ...files, ...kept }).sort()));
  });

  for (const [what, machine] of [
    ['the same coordinator goes on', 'a'],
    ['a coordinator on another machine takes over', 'b'],
    ['a coordinator of the same database goes on with the job on another machine', 'c'],
  ] as const) {
    test(`a store that fails at any request: ${what}, and no output is ever half of one job and half of another`, async () => {
      // Each request of a publication, or by chance one in ten.
      const step = isThorough ? 1 : 10;
      for (let failsAt = Math.floor(Math.random() * step); ; failsAt += step) {
        store.objects.clear();
        out = `s3://results/job ${tests} ${failsAt}`;
        useMachine('a');
        const first = await publish('first');
        const spec = { ...specOf(), priority: 1 };
        await claim('second', spec);
        const second = await prepare('second', spec);
        answered = failsAt;
        const isDone = await publishToBucket(out, 'second', 1).then(
          () => true,
          () => false,
        );
        answered = Number.POSITIVE_INFINITY;
        const [id, state] = stateOf(output());
        if (state === 'complete') assert.deepEqual(output(), id === 'first' ? first : second);
        else assert.equal(id, 'second', 'job.json says who replaces the output');
        useMachine(machine);
        if (machine === 'a') await publishToBucket(out, 'second', 1);
        else if (machine === 'b') await claim('third', spec);
        else await goOnElsewhere('second', spec);
        const [now] = stateOf(output());
        assert.deepEqual(output(), now === 'first' ? first : second, `failed at request ${failsAt}`);
        assert.equal(stateOf(output())[1], 'complete');
        if (machine !== 'a') {
          // The earlier leader wakes up, and changes nothing.
          useMachine('a');
          await publishToBucket(out, 'second', 1).catch(() => {});
          assert.equal(stateOf(output())[0], now);
        }
        if (isDone) return;
      }
    });
  }

  /** What another coordinator does that adopts the job, and has nothing of it on its disk. */
  async function goOnElsewhere(jobId: string, spec: JobSpec): Promise<void> {
    const { id, state } = await resumeOutputFolder(out, { jobId, spec }, true);
    releaseOutputFolder(out);
    assert.equal(id, jobId);
    // It may only have had to be published.
    if (state === 'complete') return;
    await prepare(jobId, spec);
    await publishToBucket(out, jobId, 1);
  }

  test('a job that another coordinator adopts gets the earlier output there, and its objects end with it', async () => {
    await publish('first');
    const spec = { ...specOf(), priority: 1 };
    await claim('second', spec, true);
    const object = `${out.slice('s3://results/'.length)}/.halogrid/jobs/second/parts/a`;
    store.objects.set(object, Buffer.from(''));
    useMachine('b');
    assert.equal((await resumeOutputFolder(out, { jobId: 'second', spec }, true)).state, 'running');
    releaseOutputFolder(out);
    assert.ok(await exists(join(outputPath(out), '.halogrid', 'earlier.json')));
    assert.ok(await exists(join(outputPath(out), 'features.parquet')));
    assert.ok(store.objects.has(object));
    const files = await prepare('second', spec);
    await publishToBucket(out, 'second', 1);
    assert.deepEqual(output(), files);
    assert.equal(store.objects.has(object), false);
  });

  test('a job that was left goes on where its scratch is, and nowhere else', async () => {
    const spec = specOf();
    await claim('first');
    assert.equal((await resumeOutputFolder(out, { jobId: 'first', spec })).id, 'first');
    releaseOutputFolder(out);
    assert.deepEqual(await findUnfinished(spec), { jobId: 'first' });
    useMachine('b');
    assert.equal(await findUnfinished(spec), undefined);
    await assert.rejects(resumeOutputFolder(out, { jobId: 'first', spec }), /holds no job instead of job first/);
    await claim('second');
    useMachine('a');
    assert.equal(await findUnfinished(spec), undefined, 'another job has the output by now');
    await assert.rejects(resumeOutputFolder(out, { jobId: 'first', spec }), /holds job second instead of job first/);
    await prepare('first', spec);
    await assert.rejects(publishToBucket(out, 'first', 1), /was taken over by job second/);
  });

  test('while the store is away a coordinator that starts takes its job up', async () => {
    await claim('first');
    answered = 0;
    assert.equal((await resumeOutputFolder(out, { jobId: 'first', spec: specOf() })).id, 'first');
    releaseOutputFolder(out);
  });

  test('one of several coordinators that claim an output at once gets it', async () => {
    const machines = ['a', 'b', 'c', 'd'];
    const claims = machines.map((name) => {
      useMachine(name);
      const spec = specOf();
      const job = { jobId: `job-${name}`, spec };
      // The folder is chosen before the first answer of the store.
      return claimOutputFolder(out, job).then(
        () => name,
        () => undefined,
      );
    });
    const won = (await Promise.all(claims)).filter(Boolean);
    releaseOutputFolder(out);
    assert.equal(won.length, 1);
  });

  test('a removal that fails at any request leaves no half of an output that looks whole, and the next one ends it', async () => {
    // Each request of a removal, or by chance one in five.
    const step = isThorough ? 1 : 5;
    for (let failsAt = Math.floor(Math.random() * step); ; failsAt += step) {
      store.objects.clear();
      out = `s3://results/job ${tests} ${failsAt}`;
      const files = await publish('first');
      const below = (name: string) => `${out.slice('s3://results/'.length)}/${name}`;
      for (const name of ['notes/a.txt', 'maps/mine.txt']) store.objects.set(below(name), Buffer.from(''));
      const stored = (await readStored(out))!;
      const { files: count, bytes } = await removeStored(stored, true);
      answered = failsAt;
      const isDone = await removeStored(stored, false).then(
        () => true,
        () => false,
      );
      answered = Number.POSITIVE_INFINITY;
      if ('job.json' in output()) for (const name of Object.keys(files)) assert.ok(name in output(), name);
      else if (!isDone)
        await assert.rejects(claim('second'), /is being removed, .*'halogrid rm s3:\/\/results\/job .*'/);
      const left = await readStored(out);
      if (isDone) assert.equal(left, undefined);
      else {
        assert.deepEqual([left!.jobId, left!.isUnfinished], ['first', false]);
        assert.deepEqual((await removeStored(left!, false)).stays, ['maps/mine.txt', 'notes']);
      }
      assert.deepEqual(Object.keys(output()), ['maps/mine.txt', 'notes/a.txt']);
      const kept = [...store.objects.keys()].filter((key) => key.includes('/.halogrid/') && !key.includes('/claims/'));
      assert.deepEqual(kept, []);
      assert.deepEqual([count, bytes > 0], [Object.keys(files).length, true]);
      for (const name of ['notes/a.txt', 'maps/mine.txt']) store.objects.delete(below(name));
      const again = await publish('second');
      assert.deepEqual(output(), again, 'the next job begins from the start');
      if (isDone) return;
    }
  });

  test('an output that another job took is not removed, and a job whose results so far are removed writes no more', async () => {
    await publish('first');
    const stored = (await readStored(out))!;
    const files = await publish('second', { ...specOf(), priority: 1 });
    await assert.rejects(removeStored(stored, false), /of job first was taken by another job just now$/);
    assert.deepEqual(output(), files);
    const third = { ...specOf(), priority: 2 };
    await claim('third', third);
    await prepare('third', third);
    const running = (await readStored(out))!;
    assert.deepEqual([running.jobId, running.state, running.isUnfinished], ['third', 'running', true]);
    await removeStored(running, false);
    assert.deepEqual(output(), {});
    assert.equal(await exists(outputPath(out)), false);
    await assert.rejects(publishToBucket(out, 'third', 1), /was taken over by another job/);
    assert.deepEqual(output(), {});
  });

  const refusals: [what: string, sentence: RegExp, begin: () => Promise<unknown>][] = [
    ['a prefix with other objects', /'s3:.*' is not empty and holds no job of halogrid \(it has 'a\.txt'\)/, foreign],
    [
      'the output of another job',
      /holds the results of another job \(first\): map_format is none and was zarr/,
      () => publish('first'),
    ],
    [
      'the claim of another job elsewhere',
      /is claimed by job first of process .*remove 's3:.*\/claims\/0+1\.json'/,
      () => claim('first'),
    ],
  ];

  async function foreign(): Promise<void> {
    store.objects.set(`${out.slice('s3://results/'.length)}/a.txt`, Buffer.from(''));
  }

  for (const [what, sentence, begin] of refusals) {
    test(`refused, and left as it is: ${what}`, async () => {
      await begin();
      useMachine('b');
      const before = new Map(store.objects);
      await assert.rejects(claim('other', specOf({ mapFormat: 'none' })), { name: 'UsageError', message: sentence });
      assert.deepEqual(store.objects, before);
      assert.equal(await exists(outputPath(out)), false);
    });
  }

  test('a store that cannot be written is named, and nothing is left in the scratch folder', async () => {
    answered = 3;
    await assert.rejects(
      claim('first'),
      /The output 's3:.*' cannot be written: Access to .* is denied: 403 AccessDenied/,
    );
    assert.equal(await exists(outputPath(out)), false);
  });

  test('a server that creates an object twice is refused for several coordinators, and one is warned', async (t) => {
    const options = { accessKeyId: 'AK', secretAccessKey: 'SK', region: 'us-east-1', bucket: 'results' };
    const other = await startTestS3({ ...options, ignoresConditions: true });
    setVariables(other.environment);
    t.after(async () => {
      setVariables(store.environment);
      await other.close();
    });
    await assert.rejects(
      claim('first', specOf(), true),
      /creates an object twice \(it ignores If-None-Match\): outputs/,
    );
    out = 's3://results/alone';
    const warnings: string[] = [];
    await claim('first', specOf(), false, warnings);
    assert.match(warnings.join('\n'), /see to it that no two coordinators write the same output there$/);
  });
});
