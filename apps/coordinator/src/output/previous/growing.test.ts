import assert from 'node:assert/strict';
import { mkdtemp, rm, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { loadSharp } from '@halogrid/imaging/sharp';
import { jobPipeline } from '@halogrid/jobs/accepted-job';
import { readSources } from '@halogrid/jobs/planned-sources';
import { previewSources } from '@halogrid/jobs/preview-choice';
import { MemoryRegistry } from '@halogrid/ledger';
import type { JobSpec } from '@halogrid/proto';
import { isThorough, memoryFolder, repeated } from '@halogrid/testing';
import fc from 'fast-check';
import { planJob } from '../../plan/planner.ts';
import { runLocalJob } from '../../testing/local-job.ts';
import { filesOf, image, isComplete, jobJson, pipelineOf, specOf, write } from './testing/outputs.ts';

const folder = await mkdtemp(join(memoryFolder, 'halogrid-growing-'));
after(() => rm(folder, { recursive: true, force: true }));
let folders = 0;

const sharp = await loadSharp();

/** A picture that states its capture time, with a zone or without. */
function dated(width: number, height: number, seed: number, zone?: string): Promise<Buffer> {
  const pixels = image(width, height, seed).subarray(-width * height);
  const stated = {
    DateTimeOriginal: `2026:01:31 08:00:${10 + (seed % 50)}`,
    ...(zone && { OffsetTimeOriginal: zone }),
  };
  const raw = { raw: { width, height, channels: 1 as const } };
  return sharp(pixels, raw).toColourspace('b-w').withExif({ IFD2: stated }).png().toBuffer();
}

/**
 * Images and a file that is not an image. Six images state a time, three of these without a zone. The names of others
 * are dates, but for one, whose month has no such day.
 */
async function makeSources(source: string, good: number): Promise<void> {
  for (let i = 0; i < good - 6; i++)
    await write(join(source, `cam${i % 3}`, `202601${32 - i}.pgm`), image(5 + (i % 6), 9, i));
  for (let i = 0; i < 6; i++) {
    await write(join(source, 'dated', `${i}.png`), await dated(7 + i, 8, i, i % 2 === 0 ? undefined : '+05:30'));
  }
  await write(join(source, 'bad.pgm'), Buffer.alloc(0));
}
const few = 10;
/** More than get a picture. */
const many = 24;
const bad = 1;

const named = (...names: string[]): Partial<JobSpec> => {
  const all = { codes: ['lbp', {}], near: ['conv', { kernel: 'gaussian-3' }], variances: ['lbp', { labels: 'var' }] };
  const chosen = names.map((name) => {
    const [kernel, parameters] = all[name as keyof typeof all] as [string, Record<string, string>];
    return { name, pipeline: pipelineOf(kernel, parameters), op: [] };
  });
  return { pipeline: undefined, pipelines: { named: chosen } };
};

type Spec = Partial<JobSpec>;

/** Additions that a job may make to the one before in its folder. */
const zone = (name: string): Spec => ({ captured: { from: '', zone: name } });
const pattern: Spec = { captured: { from: '{camera}/%Y%m%d', zone: '' } };
const mtime: Spec = { captured: { from: 'mtime', zone: '' } };
const quarters: Spec = { grid: { rows: 2, columns: 2 } };

/** `good`: how many images there are. `computed`: how many of them nodes read. */
const table: [what: string, then: Spec, more: Spec, computed: number, good: number][] = [
  ['nothing', {}, {}, 0, many],
  ['a zone', {}, zone('Europe/Berlin'), 0, few],
  ['another zone', zone('Europe/Berlin'), zone('-03:00'), 0, few],
  ['no zone any more', zone('UTC'), { captured: undefined }, 0, few],
  ['a pattern of names', {}, pattern, 0, few],
  ['no pattern any more', pattern, zone('UTC'), 0, few],
  ['times of change', pattern, mtime, 0, few],
  ['times that files state in place of times of change', mtime, zone('UTC'), few, few],
  ['a zone for several pipelines', named('codes', 'variances'), zone('UTC'), 0, few],
  ['another cut', {}, { tilePx: 4, batchFrames: 2, priority: 1 }, 0, few],
  ['maps', {}, { mapFormat: 'tiff' }, few, few],
  ['cells', quarters, { grid: { rows: 4, columns: 2 } }, few, few],
  ['cells and maps', {}, { ...quarters, mapFormat: 'png' }, few, few],
  ['another pipeline', named('codes'), named('codes', 'near'), many, many],
  ['another before the existing ones', named('near', 'variances'), named('codes', 'near', 'variances'), many, many],
  ['another order of pipelines', named('codes', 'variances'), named('variances', 'codes'), 0, many],
];

test('known counts go along with sources that only get another pipeline, unless they get a picture', async () => {
  const place = join(folder, String(folders++));
  const source = join(place, 'source');
  await makeSources(source, many);
  const before = specOf(source, join(place, 'out'), named('codes'));
  await runLocalJob({ jobId: 'before', spec: before, registry: new MemoryRegistry() });
  // The file that is not an image counts among the chosen sources.
  const pictures = previewSources - bad;
  for (const [more, expected] of [
    [{}, many - pictures],
    [{ tilePx: 512 }, many - pictures],
    [{ mapFormat: 'tiff' }, 0],
    [{ fresh: true }, 0],
  ] as const) {
    const spec = { ...before, ...named('near', 'codes'), ...more };
    let known = 0;
    for await (const steps of planJob(spec, jobPipeline(spec))) {
      for (const step of steps) {
        if (step.kind !== 'shard') continue;
        const its = [...readSources(step.shard.work.sources)].map((one) => one.known !== undefined);
        assert.equal(new Set(its).size, 1, 'a shard has sources of one kind');
        if (its[0]) known += its.length;
      }
    }
    assert.equal(known, expected, JSON.stringify(more));
  }
});

for (const [what, then, more, computed, good] of table) {
  test(`a folder that gets ${what} comes to what a fresh run writes, and computes ${computed} of ${good} sources`, async () => {
    const place = join(folder, String(folders++));
    const source = join(place, 'source');
    await makeSources(source, good);
    const before = specOf(source, join(place, 'out'), then);
    await runLocalJob({ jobId: 'before', spec: before, registry: new MemoryRegistry() });
    const spec = specOf(source, join(place, 'out'), { ...then, ...more });
    const done = await runLocalJob({ jobId: 'more', spec, registry: new MemoryRegistry() });
    const { kept, extended, again } = (await jobJson(spec.out)).incremental;
    assert.deepEqual([kept, extended + again], [good - computed, computed + bad]);
    assert.equal(extended, /^another (pipeline|before)/.test(what) ? good + bad - previewSources : 0);
    assert.equal(new Set(done.filter((uri) => !uri.endsWith('bad.pgm'))).size, computed);
    await assertAsFresh(spec, join(place, 'fresh'));
    await rm(place, { recursive: true });
  });
}

/** Additions to a job, at any time: named pipelines get further ones, an unnamed pipeline does not. */
const steps = fc.constantFrom<((spec: Spec) => Spec)[]>(
  () => zone('Europe/Berlin'),
  () => zone('+05:00'),
  () => pattern,
  () => mtime,
  () => ({ captured: undefined }),
  ({ mapFormat }) => ({ mapFormat: mapFormat ?? 'tiff' }),
  ({ grid = { rows: 1, columns: 1 } }) => ({ grid: { rows: Math.min(4, 2 * grid.rows), columns: grid.columns } }),
  () => ({ tilePx: 4 }),
  ({ pipelines }) => (pipelines ? named('near', ...namesOf(pipelines).filter((name) => name !== 'near')) : {}),
  ({ pipelines }) => (pipelines ? named(...namesOf(pipelines).filter((name) => name !== 'codes'), 'codes') : {}),
);

const namesOf = ({ named }: NonNullable<JobSpec['pipelines']>): string[] => named.map(({ name }) => name);

/** Steps of one job, changes to files, and after how many done shards coordinators end. */
const round = fc.record({
  steps: fc.array(steps, { minLength: 1, maxLength: 2 }),
  changes: fc.array(
    fc.record({ name: fc.constantFrom('cam0/20260129.pgm', 'new/20250101.pgm', 'dated/0.png'), seed: fc.nat(40) }),
    { maxLength: 2 },
  ),
  deaths: fc.array(fc.nat(4), { maxLength: 2 }),
});

test('whatever jobs add, and whatever changes and ends meanwhile, a folder has the files of a fresh run', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom<Spec>({}, named('variances')),
      fc.array(round, { minLength: 2, maxLength: isThorough ? 4 : 2 }),
      async (first, rounds) => {
        const place = join(folder, String(folders++));
        const source = join(place, 'source');
        await makeSources(source, many);
        let more = first;
        const spec = specOf(source, join(place, 'out'), more);
        await runLocalJob({ jobId: 'first', spec, registry: new MemoryRegistry() });
        for (const [number, { steps, changes, deaths }] of rounds.entries()) {
          for (const step of steps) more = { ...more, ...step(more) };
          for (const { name, seed } of changes) {
            const path = join(source, name);
            await write(path, name.endsWith('.png') ? await dated(9, 9, seed) : image(4 + (seed % 5), 7, seed));
            await utimes(path, 1000 + number, 1000 + number);
          }
          const spec = specOf(source, join(place, 'out'), more);
          const job = { jobId: `job-${number}`, spec, registry: new MemoryRegistry() };
          for (const dieAfter of [...deaths, undefined]) {
            if (await isComplete(spec, job.jobId)) break;
            await runLocalJob(job, dieAfter);
          }
          await assertAsFresh(spec, join(place, `fresh-${number}`));
        }
        await rm(place, { recursive: true });
      },
    ),
    { numRuns: repeated(1, 8) },
  );
});

async function assertAsFresh(spec: JobSpec, out: string): Promise<void> {
  const fresh = { ...spec, out: specOf('', out, {}).out };
  await runLocalJob({ jobId: 'fresh', spec: fresh, registry: new MemoryRegistry() });
  assert.deepEqual(await filesOf(spec.out), await filesOf(fresh.out));
  const [is, was] = [await jobJson(spec.out), await jobJson(fresh.out)];
  for (const key of ['digest', 'sources', 'capturedBy', 'notes', 'pipelines']) assert.deepEqual(is[key], was[key], key);
  for (const key of ['sources', 'frames', 'pixels', 'quarantined']) assert.equal(is.counts[key], was.counts[key], key);
}
