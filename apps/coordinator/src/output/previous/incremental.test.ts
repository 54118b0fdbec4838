import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { MemoryRegistry } from '@halogrid/ledger';
import { headOfList, SourceList } from '@halogrid/results/source-list';
import { SourceRows } from '@halogrid/results/source-rows';
import { memoryFolder, repeated } from '@halogrid/testing';
import fc from 'fast-check';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { runLocalJob } from '../../testing/local-job.ts';
import type { Changes } from './changes.ts';
import { filesOf, image, isComplete, jobJson, pipelineOf, specOf, write } from './testing/outputs.ts';

const folder = await mkdtemp(join(memoryFolder, 'halogrid-incremental-'));
after(() => rm(folder, { recursive: true, force: true }));
let folders = 0;

/** Some of these would have the same name as outputs, so that the names of files depend on the other files. */
const names = ['a.pgm', 'a.PGM', 'a.ppm', 'b-1.pgm', 'b/1.pgm', 'b/1.ppm', 'c/d/e.pgm', 'f.pgm'];
for (let i = 0; i < 22; i++) names.push(`g/${i}.pgm`);

/** A change to a file: it is written with this content, broken, or removed. */
const change = fc.record({
  name: fc.nat(names.length - 1).map((index) => names[index]!),
  to: fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        width: fc.integer({ min: 1, max: 9 }),
        height: fc.integer({ min: 1, max: 9 }),
        seed: fc.nat(250),
      }),
    },
    { weight: 1, arbitrary: fc.constant('broken' as const) },
    { weight: 2, arbitrary: fc.constant('removed' as const) },
  ),
});

/** Other forms of an output: with the row groups of an earlier version, or as for a job of very many sources. */
const forms = ['as it is', 'other row groups', 'folder and rows'] as const;

/**
 * Changes and another form, then a run. Its coordinator may end after this many done shards, and be followed by another
 * one.
 */
const round = fc.record({
  form: fc.constantFrom(...forms),
  changes: fc.array(change, { maxLength: 12 }),
  deaths: fc.array(fc.nat(6), { maxLength: 2 }),
});

/** The bins of float32 are not in the digest, but are kept too; Deep Zoom has no form for float32. */
const pipelines = fc.oneof(
  fc.record({
    pipeline: fc.constant(pipelineOf('lbp', {})),
    mapFormat: fc.constantFrom('none', 'tiff', 'dzi'),
  }),
  fc.record({
    pipeline: fc.constant(pipelineOf('conv', { kernel: 'gaussian-3' })),
    mapFormat: fc.constantFrom('none', 'tiff'),
  }),
);

/** Named pipelines: of codes, of float32, and one without a histogram. */
const named = {
  codes: pipelineOf('lbp', {}),
  near: pipelineOf('conv', { kernel: 'gaussian-3' }),
  variances: pipelineOf('lbp', { labels: 'var' }),
};
const severalPipelines = fc.record({
  pipeline: fc.constant(undefined),
  pipelines: fc.constant({ named: Object.entries(named).map(([name, pipeline]) => ({ name, pipeline, op: [] })) }),
  mapFormat: fc.constantFrom('none', 'tiff'),
});

const options = fc.record({
  grid: fc.constantFrom({ rows: 1, columns: 1 }, { rows: 2, columns: 3 }),
  tilePx: fc.constantFrom(0, 4),
  batchFrames: fc.constantFrom(1, 3),
  checksum: fc.constantFrom(undefined, true),
});

for (const [what, works] of [
  ['of one pipeline', pipelines],
  ['of several', severalPipelines],
] as const) {
  test(`after any changes, a run ${what} in the folder of the one before comes to what a fresh one does, and computes what changed`, async () => {
    await fc.assert(
      fc.asyncProperty(works, options, fc.array(round, { minLength: 2, maxLength: 4 }), async (work, cut, rounds) => {
        const more = { ...work, ...cut };
        const place = join(folder, String(folders++));
        const source = join(place, 'source');
        await write(join(source, 'always.pgm'), image(5, 4, 1));
        /** The files that the last complete run has seen. */
        let before = new Map<string, string>();
        for (const [number, { changes, form, deaths }] of rounds.entries()) {
          for (const { name, to } of changes) await apply(join(source, name), to, number);
          const spec = specOf(source, join(place, 'grown'), more);
          if (number > 0 && form !== 'as it is') await reform(fileURLToPath(spec.out), form);
          const job = { jobId: `job-${number}`, spec, registry: new MemoryRegistry() };
          const computed = new Set<string>();
          for (const dieAfter of [...deaths, undefined]) {
            if (await isComplete(spec, job.jobId)) break;
            for (const uri of await runLocalJob(job, dieAfter)) computed.add(uri);
          }
          const fresh = specOf(source, join(place, `fresh-${number}`), more);
          await runLocalJob({ jobId: 'fresh', spec: fresh, registry: new MemoryRegistry() });
          assert.deepEqual(await filesOf(spec.out), await filesOf(fresh.out));
          const [is, was] = [await jobJson(spec.out), await jobJson(fresh.out)];
          for (const key of ['digest', 'sources']) assert.deepEqual(is[key], was[key]);
          for (const key of ['sources', 'frames', 'pixels', 'quarantined'])
            assert.equal(is.counts[key], was.counts[key]);

          const now = await contentsOf(source);
          if (number > 0) checkChanges(is, before, now, computed);
          before = now;
        }
        await rm(place, { recursive: true });
      }),
      { numRuns: repeated(1, 4) },
    );
  });
}

test('outputs with the row groups of an earlier version, and outputs of very many sources, are kept', async () => {
  const place = join(folder, String(folders++));
  const source = join(place, 'source');
  for (let i = 0; i < 9; i++) await write(join(source, `${i}.pgm`), image(5 + i, 9, i));
  await write(join(source, 'bad.pgm'), Buffer.alloc(0));
  const fresh = specOf(source, join(place, 'fresh'), {});
  await runLocalJob({ jobId: 'fresh', spec: fresh, registry: new MemoryRegistry() });
  const spec = specOf(source, join(place, 'again'), {});
  await runLocalJob({ jobId: 'first', spec, registry: new MemoryRegistry() });
  for (const form of forms) {
    if (form !== 'as it is') await reform(fileURLToPath(spec.out), form);
    await runLocalJob({ jobId: form.replaceAll(' ', '-'), spec, registry: new MemoryRegistry() });
    assert.equal((await jobJson(spec.out)).incremental.kept, 9);
    assert.deepEqual(await filesOf(spec.out), await filesOf(fresh.out));
  }
});

/** Gives an output, and the outputs of its pipelines, another form. */
async function reform(out: string, form: Exclude<(typeof forms)[number], 'as it is'>): Promise<void> {
  const parts = await readdir(join(out, 'pipelines')).catch((): string[] => []);
  for (const part of parts) await reform(join(out, 'pipelines', part), form);
  const features = join(out, 'features.parquet');
  if (existsSync(features)) {
    const rows = await parquetReadObjects({ file: await asyncBufferFromFile(features) });
    const bytesOf = (some: typeof rows) => {
      const columnData = [
        { name: 'source', data: some.map((row) => row.source) },
        { name: 'histogram', data: some.map((row) => Array.from(row.histogram as number[])) },
      ];
      return Buffer.from(parquetWriteBuffer({ columnData, rowGroupSize: 3 }));
    };
    await rm(features);
    if (form === 'other row groups' || rows.length === 0) await writeFile(features, bytesOf(rows));
    else {
      await mkdir(features);
      for (let at = 0; at < rows.length; at += 7) {
        await writeFile(join(features, `${String(at).padStart(12, '0')}.parquet`), bytesOf(rows.slice(at, at + 7)));
      }
    }
  }
  const list = join(out, 'sources.jsonl');
  if (form === 'other row groups' || !existsSync(list)) return;
  const rows = await SourceRows.create(join(out, 'sources.parquet'), JSON.parse(await headOfList(out)));
  for await (const line of (await SourceList.at(list)).lines()) await rows.add(line);
  await rows.finish();
  await rm(list);
}

/** By URI: the content of each file. */
async function contentsOf(source: string): Promise<Map<string, string>> {
  const contents = new Map<string, string>();
  for (const name of await readdir(source, { recursive: true })) {
    const path = join(source, name);
    if ((await stat(path)).isFile()) contents.set(pathToFileURL(path).href, (await readFile(path)).toString('latin1'));
  }
  return contents;
}

const isBroken = (content: string | undefined): boolean => content === '';

function checkChanges(
  { incremental }: { incremental: Changes },
  before: Map<string, string>,
  now: Map<string, string>,
  computed: Set<string>,
): void {
  const expected = { new: 0, removed: 0, same: 0 };
  for (const uri of before.keys()) if (!now.has(uri)) expected.removed++;
  for (const [uri, content] of now) {
    if (!before.has(uri)) expected.new++;
    else if (before.get(uri) === content && !isBroken(content)) expected.same++;
  }
  assert.equal(incremental.new, expected.new);
  assert.equal(incremental.removed, expected.removed);
  assert.equal(incremental.kept + incremental.new + incremental.changed + incremental.again, now.size);
  for (const [uri, content] of now) {
    // The planner may find broken files without a node.
    if (before.get(uri) !== content && !isBroken(content)) assert.ok(computed.has(uri), `${uri} was not computed`);
  }
  // Unchanged files are computed again if they need a preview that they did not need before.
  const again = [...computed].filter((uri) => before.get(uri) === now.get(uri) && !isBroken(now.get(uri)));
  assert.ok(expected.same - again.length <= incremental.kept, 'unchanged sources are kept');
  assert.ok(
    again.length <= expected.removed + incremental.new + incremental.again,
    `${again.length} were computed again`,
  );
}

async function apply(
  path: string,
  to: 'broken' | 'removed' | { width: number; height: number; seed: number },
  round: number,
): Promise<void> {
  if (to === 'removed') return rm(path, { force: true });
  await write(path, to === 'broken' ? Buffer.alloc(0) : image(to.width, to.height, to.seed));
  // Each round has a time of its own: a coarse clock of a file system may not tick within a round.
  await utimes(path, 1000 + round, 1000 + round);
}
