import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { MemoryRegistry } from '@halogrid/ledger';
import { type JobSpec, JobState, type Share } from '@halogrid/proto';
import { memoryFolder, repeated } from '@halogrid/testing';
import fc from 'fast-check';
import { filesOf, image, jobJson, pipelineOf, specOf, write } from '../output/previous/testing/outputs.ts';
import { runLocalJob } from '../testing/local-job.ts';
import { merge, runPart, writePlan } from './testing/local-parts.ts';

// Parts of a job, merged, are the files of the job in one run.

const folder = await mkdtemp(join(memoryFolder, 'halogrid-shares-'));
after(() => rm(folder, { recursive: true, force: true }));
let folders = 0;

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

test('merged parts are what one run makes, however the work is shared', async () => {
  await fc.assert(
    fc.asyncProperty(works, archive, cut, sharing, async (work, files, more, { isPlanned, dieAfter, ...share }) => {
      const place = join(folder, String(folders++));
      const source = join(place, 'source');
      for (const [i, content] of files.entries()) await write(join(source, names[i]!), contentOf(content));
      const whole = specOf(source, join(place, 'whole'), { ...work, ...more });
      await runLocalJob({ jobId: 'whole', spec: whole, registry: new MemoryRegistry() });
      const parts = await makeParts(place, whole, { ...share, plan: '' }, isPlanned, dieAfter);
      const out = pathToFileURL(join(place, 'merged')).href;
      const job = await merge(parts.map(({ out }) => fileURLToPath(out)).reverse(), out);
      assert.equal(job.error, '');
      assert.equal(job.state, JobState.COMPLETE);
      assert.deepEqual(await filesOf(out), await filesOf(whole.out));
      assert.deepEqual(lasting(await jobJson(out)), lasting(await jobJson(whole.out)));
      const jobs = await Promise.all(parts.map(({ out }) => jobJson(out)));
      // An image whose tiles are shared is whole in no part.
      for (const count of share.splitImages ? (['shards'] as const) : (['shards', 'frames', 'pixels'] as const)) {
        const sum = jobs.reduce((all, { counts }) => all + counts[count], 0);
        assert.equal(sum, Number(job.counts![count]), `the parts have all ${count}, each once`);
      }
      await rm(place, { recursive: true });
    }),
    { numRuns: repeated(5, 40) },
  );
});

test('a hundred parts of some images are what one run makes', async () => {
  const place = join(folder, String(folders++));
  const source = join(place, 'source');
  for (let i = 0; i < 30; i++) await write(join(source, `${i}.pgm`), image(9, 5, i));
  const whole = specOf(source, join(place, 'whole'), {});
  await runLocalJob({ jobId: 'whole', spec: whole, registry: new MemoryRegistry() });
  const parts = await makeParts(place, whole, { of: 100, splitImages: false, plan: '' }, true);
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
  dieAfter?: number,
): Promise<JobSpec[]> {
  const plan = isPlanned ? pathToFileURL(join(place, 'plan')).href : '';
  if (isPlanned) await writePlan({ ...whole, out: plan, share: { ...share, number: 1, of: 1 } });
  const parts: JobSpec[] = [];
  for (let number = 1; number <= share.of; number++) {
    const out = pathToFileURL(join(place, `part-${number}`)).href;
    const spec: JobSpec = { ...whole, out, share: { ...share, plan, number } };
    const jobId = `part-${number}`;
    if (dieAfter !== undefined) await runPart(jobId, spec, dieAfter);
    await runPart(jobId, spec);
    parts.push(spec);
  }
  return parts;
}

/** What the job.json of two outputs must have in common. */
function lasting({ id: _, submitted: __, finished: ___, wallSeconds: ____, nodes, ...rest }: Record<string, unknown>) {
  const { out: _____, ...specification } = rest.specification as JobSpec;
  const devices = (nodes as { shards: number }[]).reduce((sum, { shards }) => sum + shards, 0);
  return { ...rest, specification, devices };
}
