import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';
import { repeated } from '@halogrid/testing';
import fc from 'fast-check';
import { asyncBufferFromFile, parquetMetadataAsync } from 'hyparquet';
import { quarantinedDigest } from '../counts/source-digest.ts';
import { SourceList } from '../sources/source-list.ts';
import { readRows, rowsOf } from '../testing/feature-rows.ts';
import { anyMadeJob, type MadeJob, rowsOfJob, shardsOf } from '../testing/found-jobs.ts';
import { temporaryFolder } from '../testing/maps.ts';
import { summariseShard } from './found-shard.ts';
import { type FoundInPart, PartWriter } from './part-writer.ts';
import { type FilePlace, pipelinePaths } from './shard-place.ts';

test('a part has the rows of its shards at the places that it returns, and every reader of outputs reads it', async (t) => {
  const folder = join(await temporaryFolder(t), 'parts');
  await fc.assert(
    fc.asyncProperty(anyMadeJob(), async (job) => {
      const writer = await PartWriter.create(folder, job.pipelines, job.rule);
      const found: FoundInPart[] = [];
      for (const shard of shardsOf(job)) found.push(await writer.add(shard));
      assert.ok((await readdir(folder)).includes(`${writer.id}.tmp`));
      await writer.finish();
      assert.deepEqual(await readdir(folder), [writer.id]);
      const names = job.pipelines.map(({ name }) => name);
      for (const [i, pipeline] of job.pipelines.entries()) {
        const paths = pipelinePaths(join(folder, writer.id), names, i);
        const { lines, features } = rowsOfJob(job, pipeline);
        const list = (await SourceList.open(paths.folder))!;
        assert.deepEqual(await Array.fromAsync(list.lines()), lines);
        await checkPlaces(
          paths.sources,
          found.map(({ places }) => places[i]!.sources),
        );
        if (pipeline.shape.bins === 0) {
          assert.deepEqual(await readdir(paths.folder), ['sources.parquet']);
          continue;
        }
        assert.deepEqual(await readRows(paths.features), rowsOf(features, pipeline.shape.grid.columns));
        await checkPlaces(
          paths.features,
          found.map(({ places }) => places[i]!.features!),
        );
      }
      await rm(folder, { recursive: true });
    }),
    { numRuns: repeated(5, 60) },
  );
});

test('the summary of a shard is that of its rows, whether they are written or not', async (t) => {
  const folder = join(await temporaryFolder(t), 'parts');
  await fc.assert(
    fc.asyncProperty(anyMadeJob(20), async (job) => {
      const writer = await PartWriter.create(folder, job.pipelines, job.rule);
      for (const [i, shard] of shardsOf(job).entries()) {
        const { part, places: _, ...written } = await writer.add(shard);
        assert.equal(part, writer.id);
        const summary = summariseShard(
          shard,
          job.pipelines.map(({ shape }) => shape),
        );
        assert.deepEqual(written, summary);
        assert.deepEqual(summary, expectedSummary(job, job.firsts[i]!, job.firsts[i + 1]));
      }
      await writer.abort();
      assert.deepEqual(await readdir(folder), []);
    }),
    { numRuns: repeated(5, 60) },
  );
});

/** Checks that the row groups of shards are consecutive, and that places have the right bytes of the file. */
async function checkPlaces(path: string, places: FilePlace[]): Promise<void> {
  const bytes = await readFile(path);
  const { row_groups } = await parquetMetadataAsync(await asyncBufferFromFile(path));
  let [group, at] = [0, 4];
  for (const { firstGroup, groups, start, length, checksum } of places) {
    assert.deepEqual([firstGroup, start], [group, at]);
    assert.equal(checksum, crc32(bytes.subarray(start, start + length)));
    for (const { columns, total_compressed_size } of row_groups.slice(group, group + groups)) {
      assert.equal(Number(columns[0]!.file_offset), at);
      at += Number(total_compressed_size);
    }
    group += groups;
    assert.equal(at, start + length);
  }
  assert.equal(group, row_groups.length);
}

function expectedSummary(job: MadeJob, from: number, to?: number) {
  const good = job.sources.slice(from, to).flatMap(({ size }) => size ?? []);
  const sha = createHash('sha256');
  const parts = job.pipelines.map((pipeline) => {
    const { lines, features } = rowsOfJob(job, pipeline);
    for (const line of lines.slice(from, to)) {
      sha.update(line.quarantined ? quarantinedDigest : Buffer.from(line.digest, 'hex'));
    }
    const cells = features
      .filter(({ facts }) => facts.number >= from && (to === undefined || facts.number < to))
      .flatMap((source) => source.cells);
    const counted = cells.reduce((sum, cell) => sum + BigInt(cell.counted), 0n);
    const { channels, bins } = pipeline.shape;
    const sums = Array.from({ length: channels * bins }, (_, bin) =>
      cells.reduce((sum, { histogram }) => sum + BigInt(histogram[bin]!), 0n),
    );
    return { counted: String(counted), sums: Uint8Array.from(sums.flatMap(varint)) };
  });
  const pixels = good.reduce((sum, { width, height }) => sum + width * height, 0);
  return { found: good.length, pixels, digest: sha.digest(), parts };
}

/** 7 bits a byte, the lowest first, with bit 7 set in all bytes but the last. */
const varint = (value: bigint): number[] =>
  value < 128n ? [Number(value)] : [Number(value % 128n) + 128, ...varint(value / 128n)];
