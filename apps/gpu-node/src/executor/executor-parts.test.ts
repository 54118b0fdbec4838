import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createPipeline } from '@halogrid/kernels';
import { FoundInPart, type Lease, PipelineSet } from '@halogrid/proto';
import { type FoundShard, summariseShard } from '@halogrid/results/found-shard';
import { histogramShape } from '@halogrid/results/histogram-shape';
import { eventually } from '@halogrid/testing';
import { CpuDevice, openTwinDevice } from '../devices/cpu-device.ts';
import { DeviceLostError, type NodeDevice } from '../devices/device.ts';
import { pipelinesOf } from '../parts/job-parts.ts';
import { type JobParts, type KeptShard, NodeParts } from '../parts/node-parts.ts';
import { OutputError } from '../parts/output-error.ts';
import { noted } from './testing/noted-device.ts';
import { putFrames } from './testing/put-frames.ts';
import { createTestExecutor, frameLease, lbp, patternImage, resultsOf, withFolder } from './testing/shard-fixture.ts';

const device = new CpuDevice({ threads: 2 });
after(() => device.close());
const never = new AbortController().signal;

const keptAs = (part: string): KeptShard => ({ found: FoundInPart.create({ part }), seconds: 0.25 });

/** Parts that are written when the test says so. */
function heldParts() {
  const added: { shard: FoundShard; written: PromiseWithResolvers<KeptShard> }[] = [];
  const its: JobParts = {
    add: (shard) => {
      const written = Promise.withResolvers<KeptShard>();
      added.push({ shard, written });
      return written.promise;
    },
    sum: async () => keptAs(''),
    flush: () => {},
    close: async () => {},
  };
  return { added, parts: new NodeParts(async () => its) };
}

test('shards whose part is not written yet do not hold up others', async () => {
  await withFolder(async (folder) => {
    const { uris } = await putFrames(folder);
    const { added, parts } = heldParts();
    const execute = createTestExecutor(device, { parts });
    // More than can have a turn at once.
    const shards = Array.from({ length: device.batchesInFlight + 8 }, (_, shard) =>
      execute(frameLease(folder, uris, { shard }), never),
    );
    await eventually('all shards to be computed', () => added.length === shards.length);
    for (const [i, { written }] of added.entries()) written.resolve(keptAs(`part ${i}`));
    const answers = await Promise.all(shards);
    assert.deepEqual(answers.map(({ found }) => found?.part).toSorted(), answers.map((_, i) => `part ${i}`).toSorted());
    for (const { results, errors, stageSeconds } of answers) {
      assert.deepEqual([results, errors], [[], []]);
      assert.ok(stageSeconds.encode! >= 0.25);
    }
  });
});

test('a lease that is forgotten while its part is written has no answer', async () => {
  await withFolder(async (folder) => {
    const { uris } = await putFrames(folder);
    const { added, parts } = heldParts();
    const abort = new AbortController();
    const answer = createTestExecutor(device, { parts })(frameLease(folder, uris), abort.signal);
    await eventually('the shard to be computed', () => added[0]);
    abort.abort(new Error('taken back'));
    added[0]!.written.resolve(keptAs(''));
    await assert.rejects(answer, /taken back/);
  });
});

test('a part that cannot be written fails the shard, as a chunk does', async () => {
  await withFolder(async (folder) => {
    const { uris } = await putFrames(folder);
    const { added, parts } = heldParts();
    const answer = createTestExecutor(device, { parts })(frameLease(folder, uris), never);
    await eventually('the shard to be computed', () => added[0]);
    added[0]!.written.reject(new Error('No space left on device'));
    await assert.rejects(answer, (error) => error instanceof OutputError && /No space left/.test(error.message));
  });
});

test('a shard over which the device was lost adds only the results of its second try', async () => {
  await withFolder(async (folder) => {
    const { uris } = await putFrames(folder);
    const lease: Lease = frameLease(folder, [...uris, `${uris[0]}.missing.pgm`]);
    const expected = await createTestExecutor(device)(lease, never);
    const { added, parts } = heldParts();
    let runs = 0;
    const { device: lost } = noted(device, {
      async run(staging, items, pipeline, withMap) {
        if (++runs > 1) return await device.run(staging, items, pipeline, withMap);
        staging.release();
        throw new DeviceLostError('out of memory');
      },
    });
    const answer = createTestExecutor(lost, { parts })(lease, never);
    await eventually('the shard to be computed', () => added[0]);
    added[0]!.written.resolve(keptAs(''));
    const { errors } = await answer;
    assert.equal(added.length, 1);
    const shapes = pipelinesOf(lease).map(({ shape }) => shape);
    assert.deepEqual([resultsOf(added[0]!.shard, shapes), errors], [expected.results, expected.errors]);
    assert.deepEqual([added[0]!.shard.block, errors.length], [lease.sources, 1]);
  });
});

test('a shard has the same results for all sizes of batches, and on the twin', async () => {
  const twin = openTwinDevice();
  const named = [
    { name: 'codes', pipeline: { operations: [lbp({ labels: 'uniform' })] } },
    { name: 'derivatives', pipeline: { operations: [{ kernel: 'ldp', parameters: {}, border: '' }] } },
  ];
  const grid = { rows: 3, columns: 2 };
  const shapes = named.map(({ pipeline }) => histogramShape(createPipeline(pipeline.operations), grid));
  try {
    await withFolder(async (folder) => {
      const { uris } = await putFrames(folder);
      const { file } = patternImage({ width: 40, height: 40 }, 9);
      const cut = await folder.put('cut.pgm', file.subarray(0, 500));
      const lease = frameLease(folder, [...uris, cut, ...uris], {
        pipelines: PipelineSet.fromPartial({ named }),
        grid,
      });
      const summaryOf = async (its: Lease, more: Partial<NodeDevice> = {}) => {
        const found: FoundShard[] = [];
        const keep = async (shard: FoundShard): Promise<KeptShard> => {
          found.push(shard);
          return keptAs('');
        };
        const open = async (): Promise<JobParts> => ({ add: keep, sum: keep, flush: () => {}, close: async () => {} });
        const parts = new NodeParts(open);
        const { errors } = await createTestExecutor(noted(device, more).device, { parts, twin })(its, never);
        assert.deepEqual([found.length, errors.map(({ source }) => source)], [1, [uris.length]]);
        return summariseShard(found[0]!, shapes);
      };
      const usual = await summaryOf(lease);
      assert.equal(usual.found, 2 * uris.length);
      assert.deepEqual(await summaryOf(lease, { maxStagingBytes: 2 ** 15 }), usual, 'a few frames at once');
      assert.deepEqual(await summaryOf(lease, { batchBytes: 1 }), usual, 'one by one');
      assert.deepEqual(await summaryOf({ ...lease, verify: true }), usual, 'the reference');
    });
  } finally {
    await twin.close();
  }
});
