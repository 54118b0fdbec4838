import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { outputPath } from '@halogrid/jobs/output-paths';
import { MemoryRegistry } from '@halogrid/ledger';
import { type JobSpec, JobState, type Share } from '@halogrid/proto';
import { setVariables } from '@halogrid/sources/testing-files';
import { startTestS3, type TestS3 } from '@halogrid/sources/testing-servers';
import { memoryFolder, repeated } from '@halogrid/testing';
import fc from 'fast-check';
import { findUnfinished, releaseOutputFolder, resumeOutputFolder } from '../output/output-folder.ts';
import { filesOf, image, jobJson, pipelineOf, specOf, write } from '../output/previous/testing/outputs.ts';
import { runLocalJob } from '../testing/local-job.ts';
import { merge, runPart, writePlan } from './testing/local-parts.ts';

// Parts of a job, merged, are the files of the job in one run.

const folder = await mkdtemp(join(memoryFolder, 'halogrid-shares-'));
after(() => rm(folder, { recursive: true, force: true }));
let folders = 0;

/** One request in so many fails. */
const oneIn = 25;
const kinds = ['busy', 'drop', 'cut'] as const;
// A suite, because other test files of this process set other buckets.
describe('parts in folders and buckets', () => {
  let store: TestS3;
  before(async () => {
    let requests = 0;
    store = await startTestS3({
      accessKeyId: 'AK',
      secretAccessKey: 'SK',
      region: 'us-east-1',
      bucket: 'parts',
      fault: () => (++requests % oneIn === 0 ? kinds[(requests / oneIn) % kinds.length] : undefined),
    });
    setVariables({ ...store.environment, HALOGRID_SCRATCH: join(folder, 'scratch') });
  });
  after(() => store?.close());

  const named = {
    codes: pipelineOf('lbp', {}),
    near: pipelineOf('conv', { kernel: 'gaussian-3' }),
    variances: pipelineOf('lbp', { labels: 'var' }),
  };
  const severalPipelines = { named: Object.entries(named).map(([name, pipeline]) => ({ name, pipeline, op: [] })) };
  const works = fc.oneof(
    fc.record({ mapFormat: fc.constantFrom('none', 'tiff', 'zarr', 'png', 'dzi') }),
    fc.record({
      pipeline: fc.constant(pipelineOf('conv', { kernel: 'gaussian-3' })),
      mapFormat: fc.constantFrom('none', 'tiff', 'zarr'),
    }),
    fc.record({
      pipeline: fc.constant(undefined),
      pipelines: fc.constant(severalPipelines),
      mapFormat: fc.constantFrom('none', 'tiff'),
    }),
  );

  /** Images of any size, some in subfolders with names that clash, and files that cannot be read. */
  const side = fc.integer({ min: 1, max: 11 });
  const file = fc.oneof(
    { weight: 5, arbitrary: fc.record({ width: side, height: side, seed: fc.nat(250) }) },
    { weight: 1, arbitrary: fc.constant('broken' as const) },
  );
  const names = [
    'a.pgm',
    'a.PGM',
    'b-1.pgm',
    'b/1.pgm',
    'c/d/e.pgm',
    ...Array.from({ length: 20 }, (_, i) => `f/${i}.pgm`),
  ];
  const archive = fc.array(file, { minLength: 1, maxLength: names.length });

  const cut = fc.record({
    grid: fc.constantFrom({ rows: 1, columns: 1 }, { rows: 2, columns: 3 }),
    tilePx: fc.constantFrom(0, 4),
    batchFrames: fc.constantFrom(1, 3),
  });

  const sharing = fc.record({
    of: fc.constantFrom(1, 2, 3, 7),
    splitImages: fc.boolean(),
    isPlanned: fc.boolean(),
    /** How many shards the first process of each part does before it dies. */
    dieAfter: fc.constantFrom(undefined, 0, 1),
  });

  /** What is in the bucket and not in folders. */
  type Buckets = Record<'plan' | 'odd' | 'even' | 'merged', boolean>;
  const buckets: fc.Arbitrary<Buckets> = fc.record({
    plan: fc.boolean(),
    odd: fc.boolean(),
    even: fc.boolean(),
    merged: fc.boolean(),
  });
  const nowhere: Buckets = { plan: false, odd: false, even: false, merged: false };
  const everywhere: Buckets = { plan: true, odd: true, even: true, merged: true };

  test('merged parts are what one run makes, however the work is shared, in folders and buckets', async () => {
    await fc.assert(
      fc.asyncProperty(works, archive, cut, sharing, buckets, async (work, files, more, sharing, inBucket) => {
        const { isPlanned, dieAfter, ...share } = sharing;
        const place = join(folder, String(folders++));
        const source = join(place, 'source');
        for (const [i, content] of files.entries()) await write(join(source, names[i]!), contentOf(content));
        const whole = specOf(source, join(place, 'whole'), { ...work, ...more });
        await runLocalJob({ jobId: 'whole', spec: whole, registry: new MemoryRegistry() });
        const parts = await makeParts(place, whole, { ...share, plan: '' }, isPlanned, inBucket, dieAfter);
        const out = placeOf(place, 'merged', inBucket.merged);
        const job = await merge(parts.map(({ out }) => pathOf(out)).reverse(), out);
        assert.equal(job.error, '');
        assert.equal(job.state, JobState.COMPLETE);
        assert.deepEqual(await resultsOf(out), await resultsOf(whole.out));
        assert.deepEqual(lasting(await claimOf(out)), lasting(await claimOf(whole.out)));
        const jobs = await Promise.all(parts.map(({ out }) => claimOf(out)));
        // An image whose tiles are shared is whole in no part.
        for (const count of share.splitImages ? (['shards'] as const) : (['shards', 'frames', 'pixels'] as const)) {
          const sum = jobs.reduce((all, { counts }) => all + counts[count], 0);
          assert.equal(sum, Number(job.counts![count]), `the parts have all ${count}, each once`);
        }
        await rm(place, { recursive: true });
        store.objects.clear();
      }),
      {
        numRuns: repeated(5, 40),
        examples: [
          [
            { mapFormat: 'zarr' },
            [{ width: 11, height: 9, seed: 1 }, 'broken', { width: 7, height: 7, seed: 2 }],
            { grid: { rows: 2, columns: 3 }, tilePx: 4, batchFrames: 1 },
            { of: 2, splitImages: true, isPlanned: true, dieAfter: 1 },
            everywhere,
          ],
        ],
      },
    );
  });

  test('a whole part in a bucket ends at once on any machine, and is made again only if asked', async () => {
    const place = join(folder, String(folders++));
    for (let i = 0; i < 4; i++) await write(join(place, 'source', `${i}.pgm`), image(9, 5, i));
    const share: Share = { number: 1, of: 2, plan: '', splitImages: false };
    const spec = { ...specOf(join(place, 'source'), 'unused', { share }), out: 's3://parts/again' };
    assert.equal((await runPart('first', spec)).length, 2);
    const before = new Map(store.objects);
    assert.deepEqual(await runPart('second', spec), [], 'nothing is computed again');
    assert.deepEqual(new Map(store.objects), before);
    // A process that asked for it again was killed before it ended.
    const { jobId } = (await findUnfinished(spec))!;
    const claim = await resumeOutputFolder(spec.out, { jobId, spec });
    releaseOutputFolder(spec.out);
    assert.equal(claim.state, 'part');
    const local = join(outputPath(spec.out), 'job.json');
    const running = JSON.parse(await readFile(local, 'utf8'));
    assert.equal(running.state, 'running');
    await writeFile(local, JSON.stringify({ ...running, coordinator: { ...running.coordinator, pid: 2 ** 30 } }));
    assert.deepEqual(await runPart('killed', spec), []);
    assert.deepEqual(new Map(store.objects), before);
    assert.equal((await runPart('third', { ...spec, fresh: true })).length, 2);
    const ids = (objects: ReadonlyMap<string, Buffer>) => JSON.parse(objects.get('again/job.json')!.toString()).id;
    assert.deepEqual([ids(before), ids(store.objects)], ['first', 'third']);
    const kept = (one: Map<string, Buffer>) => [...one.keys()].filter((key) => !key.includes('/claims/'));
    assert.equal(kept(store.objects).length, kept(before).length);
    assert.ok(
      kept(before).every((key) => !key.includes('/parts/') || !store.objects.has(key)),
      'nothing of the first stays',
    );
    const other: JobSpec = { ...spec, share: { ...share, number: 2 } };
    await assert.rejects(
      runPart('other', other),
      /The output folder 's3:\/\/parts\/again' holds the results of another job/,
    );
  });

  test('a hundred parts of some images are what one run makes', async () => {
    const place = join(folder, String(folders++));
    const source = join(place, 'source');
    for (let i = 0; i < 30; i++) await write(join(source, `${i}.pgm`), image(9, 5, i));
    const whole = specOf(source, join(place, 'whole'), {});
    await runLocalJob({ jobId: 'whole', spec: whole, registry: new MemoryRegistry() });
    const parts = await makeParts(place, whole, { of: 100, splitImages: false, plan: '' }, true, nowhere);
    const out = pathToFileURL(join(place, 'merged')).href;
    await merge(
      parts.map(({ out }) => fileURLToPath(out)),
      out,
    );
    assert.deepEqual(await filesOf(out), await filesOf(whole.out));
    const frames = await Promise.all(parts.map(async ({ out }) => (await jobJson(out)).counts.frames));
    assert.deepEqual(
      Map.groupBy(frames, (count) => count)
        .keys()
        .toArray()
        .sort(),
      [0, 1],
      'images are shared evenly',
    );
  });

  const contentOf = (content: 'broken' | { width: number; height: number; seed: number }): Buffer =>
    content === 'broken' ? Buffer.alloc(0) : image(content.width, content.height, content.seed);

  /** Runs all shares of a job; resolves with their specifications. */
  async function makeParts(
    place: string,
    { out: _, ...whole }: JobSpec,
    share: Omit<Share, 'number'>,
    isPlanned: boolean,
    inBucket: Buckets,
    dieAfter?: number,
  ): Promise<JobSpec[]> {
    const plan = isPlanned ? placeOf(place, 'plan', inBucket.plan) : '';
    if (isPlanned) await writePlan({ ...whole, out: plan, share: { ...share, number: 1, of: 1 } });
    const parts: JobSpec[] = [];
    for (let number = 1; number <= share.of; number++) {
      const out = placeOf(place, `part-${number}`, number % 2 === 1 ? inBucket.odd : inBucket.even);
      const spec: JobSpec = { ...whole, out, share: { ...share, plan, number } };
      const jobId = `part-${number}`;
      if (dieAfter !== undefined) await runPart(jobId, spec, dieAfter);
      await runPart(jobId, spec);
      parts.push(spec);
    }
    return parts;
  }

  /** The URI of a folder, or of a prefix of the same name. */
  const placeOf = (place: string, name: string, isInBucket: boolean): string =>
    isInBucket ? `s3://parts/${name}` : pathToFileURL(join(place, name)).href;

  const pathOf = (out: string): string => (out.startsWith('s3:') ? out : fileURLToPath(out));

  /** The files of an output, by their hashes. A bucket has no folders. */
  async function resultsOf(out: string): Promise<Record<string, string>> {
    const files = await inFolder(out, filesOf);
    return Object.fromEntries(Object.entries(files).filter(([, hash]) => hash !== 'folder'));
  }

  const claimOf = (out: string): ReturnType<typeof jobJson> => inFolder(out, jobJson);

  /** Reads an output that is in a folder, or in a copy of what the bucket has of it. */
  async function inFolder<Read>(out: string, read: (out: string) => Promise<Read>): Promise<Read> {
    if (!out.startsWith('s3:')) return read(out);
    const copy = join(folder, String(folders++));
    const prefix = `${out.slice('s3://parts/'.length)}/`;
    for (const [key, bytes] of store.objects) {
      const name = key.slice(prefix.length);
      if (!key.startsWith(prefix) || name.startsWith('.halogrid/')) continue;
      await mkdir(dirname(join(copy, name)), { recursive: true });
      await writeFile(join(copy, name), bytes);
    }
    return read(pathToFileURL(copy).href);
  }

  /** What the job.json of two outputs must have in common. */
  function lasting({
    id: _,
    submitted: __,
    finished: ___,
    wallSeconds: ____,
    nodes,
    ...rest
  }: Record<string, unknown>) {
    const { out: _____, ...specification } = rest.specification as JobSpec;
    const devices = (nodes as { shards: number }[]).reduce((sum, { shards }) => sum + shards, 0);
    return { ...rest, specification, devices };
  }
});
