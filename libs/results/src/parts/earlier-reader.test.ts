import assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { captureText } from '@halogrid/sources/captured';
import { packSources } from '@halogrid/sources/pack-sources';
import { SourceBlock } from '@halogrid/sources/source-block';
import { repeated } from '@halogrid/testing';
import fc from 'fast-check';
import { anyMadeJob, type MadeJob, rowsOfJob } from '../testing/found-jobs.ts';
import { temporaryFolder } from '../testing/maps.ts';
import { writeAtOnce } from '../testing/part-outputs.ts';
import { EarlierReader, type EarlierShard } from './earlier-reader.ts';
import { addEarlier } from './earlier-runs.ts';
import { type FoundShard, shardRows } from './found-shard.ts';

const folderOf = (folder: string, name: string): string => join(folder, name);

async function writeOutput(folder: string, job: MadeJob): Promise<EarlierReader> {
  await rm(folder, { recursive: true, force: true });
  for (const pipeline of job.pipelines) {
    const own = folderOf(folder, pipeline.name);
    await mkdir(own, { recursive: true });
    const { list, features } = await writeAtOnce(folder, job, pipeline);
    await writeFile(join(own, 'sources.parquet'), list);
    if (features) await writeFile(join(own, 'features.parquet'), features);
  }
  return new EarlierReader(job.pipelines.map(({ name, shape }) => ({ folder: folderOf(folder, name), shape })));
}

/** A shard of a later job. Its sources are done in the output, where they have these numbers. */
function shardOf({ sources }: MadeJob, numbers: readonly number[], first: number): EarlierShard {
  const earlier: number[] = [];
  const planned = numbers.map((source, nth) => {
    const { planned, size } = sources[source]!;
    addEarlier(earlier, { source, doneBefore: sources.slice(0, source).filter((each) => each.size).length });
    return { ...planned, index: first + nth, name: `now ${nth}`, kept: planned.name, size: size! };
  });
  return { block: packSources(planned), earlier };
}

/** The results of a shard for each source and pipeline, in a form that can be compared. */
function told(shard: FoundShard, { pipelines }: MadeJob) {
  const shapes = pipelines.map(({ shape }) => shape);
  return [...shardRows(shard, new SourceBlock(shard.block), shapes)].map(({ part, nth, found }) => {
    const { size, counted, bins, digest, captured } = found!;
    const time = part === 0 && captured && captureText(captured);
    return { part, nth, ...size, counted, bins: [...bins], digest: Buffer.from(digest).toString('hex'), time };
  });
}

/** The results of the sources with these numbers in the output, in the same form. */
function expected(job: MadeJob, numbers: readonly number[]) {
  return job.pipelines.flatMap((pipeline, part) => {
    const { lines, features } = rowsOfJob(job, pipeline);
    const done = lines.filter((line) => !line.quarantined);
    return numbers.map((number, nth) => {
      const line = lines[number]!;
      assert.ok(!line.quarantined);
      const { width, height, counted, digest, captured } = line;
      const bins = features[done.indexOf(line)]!.cells.flatMap(({ histogram }) => Array.from(histogram));
      return { part, nth, width, height, counted, bins, digest, time: part === 0 && captured };
    });
  });
}

const doneOf = ({ sources }: MadeJob): number[] => [...sources.keys()].filter((source) => sources[source]!.size);

test('property: the results of an output are read in whatever order and cut their sources are listed later', async (t) => {
  const folder = await temporaryFolder(t);
  const shuffled = fc.func(fc.nat());
  await fc.assert(
    fc.asyncProperty(anyMadeJob(40), shuffled, fc.array(fc.nat(40), { maxLength: 3 }), async (job, rank, cuts) => {
      const reader = await writeOutput(folder, job);
      const numbers = doneOf(job).sort((a, b) => rank(a) - rank(b));
      const firsts = [...new Set([0, ...cuts])].filter((first) => first < numbers.length).sort((a, b) => a - b);
      const each = firsts.map((first, i) => numbers.slice(first, firsts[i + 1]));
      const found = await reader.read(each.map((some, i) => shardOf(job, some, firsts[i]!)));
      for (const [i, some] of each.entries()) assert.deepEqual(told(found[i]!, job), expected(job, some));
    }),
    { numRuns: repeated(6, 100) },
  );
});

test('property: an output that has changed is refused with one sentence', async (t) => {
  const folder = await temporaryFolder(t);
  const changes: ((shard: EarlierShard) => EarlierShard)[] = [
    ({ block, earlier }) => ({ block, earlier: earlier.with(0, earlier[0]! + 1) }),
    ...['uri', 'kept', 'size', 'video'].map((what) => ({ block, earlier }: EarlierShard): EarlierShard => {
      const [source, ...others] = new SourceBlock(block);
      const other = {
        uri: 'file:///in/other',
        kept: `${source!.kept}-other`,
        video: { frame: 7777, timestampMs: null },
        size: { width: 17, height: 4 },
      };
      return { block: packSources([{ ...source!, [what]: other[what as 'uri'] }, ...others]), earlier };
    }),
  ];
  await fc.assert(
    fc.asyncProperty(anyMadeJob(12), fc.constantFrom(...changes), async (job, change) => {
      const done = doneOf(job);
      fc.pre(done.length > 0);
      const reader = await writeOutput(folder, job);
      const shard = change(shardOf(job, done, 0));
      await assert.rejects(reader.read([shard]), (error: Error) => {
        assert.match(
          error.message,
          /^(The earlier results of '.*' in '.*' have changed since they were written; a fresh|'.*' has no source)/s,
        );
        return true;
      });
    }),
    { numRuns: repeated(10, 100) },
  );
});
