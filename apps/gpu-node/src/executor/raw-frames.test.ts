import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { FoundAnswer, Lease } from '@halogrid/proto';
import { CpuDevice } from '../devices/cpu-device.ts';
import type { NodeDevice } from '../devices/device.ts';
import { RawFeed, RawThreads, rawThreads } from '../feed/raw-feed.ts';
import { rawWords } from '../feed/raw-orders.ts';
import { noted } from './testing/noted-device.ts';
import { sizes } from './testing/put-frames.ts';
import {
  createTestExecutor,
  frameLease,
  lbp,
  patternImage,
  referenceOf,
  type TestFolder,
  withFolder,
} from './testing/shard-fixture.ts';

const device = new CpuDevice({ threads: 1, stagingBytes: 2 ** 22 });
const threads = new RawThreads(1);
after(async () => {
  await threads.close();
  await device.close();
});
const never = new AbortController().signal;

/** A feed that notes how many frames of each batch its threads took. */
function notedFeed(before = 0) {
  const taken: number[] = [];
  const read: RawThreads['read'] = async (...batch) => {
    const answer = await threads.read(...batch);
    taken.push(answer.taken.length / rawWords);
    return answer;
  };
  return { feed: new RawFeed({ read, close: () => threads.close() }, before), taken };
}

/** The answer of a lease, without times and bytes read. */
async function computed(lease: Lease, rawFeed?: RawFeed, on: NodeDevice = device): Promise<Partial<FoundAnswer>> {
  const execute = createTestExecutor(on, rawFeed ? { rawFeed } : {});
  const { stageSeconds: _, busySeconds: __, inputBytes: ___, timeline: ____, ...answer } = await execute(lease, never);
  return answer;
}

async function putFrames(folder: TestFolder, count: number): Promise<string[]> {
  return Promise.all(
    Array.from({ length: count }, (_, i) => folder.put(`${i}.pgm`, patternImage({ width: 33, height: 7 }, i).file)),
  );
}

test('frames of any size that threads read have the results of frames opened one by one, and cores say what is wrong with others', async () => {
  await withFolder(async (folder) => {
    const shown = [...sizes, { width: 64, height: 48 }].map((size, seed) => patternImage(size, seed));
    const uris = await Promise.all([
      ...shown.map(({ file }, i) => folder.put(`${i}.pgm`, file)),
      folder.put('colour.ppm', patternImage({ width: 20, height: 10 }, 3, 3).file),
      folder.put('deep.pgm', patternImage({ width: 20, height: 10 }, 4, 1, 'u16').file),
      folder.put('short.pgm', patternImage({ width: 20, height: 10 }, 5).file.subarray(0, 100)),
      folder.put('text.pgm', 'no picture'),
      `file://${folder.path}/missing.pgm`,
    ]);
    const { feed, taken } = notedFeed();
    const lease = frameLease(folder, uris);
    const found = await computed(lease, feed);
    assert.deepEqual(found, await computed(lease));
    assert.deepEqual(taken, [shown.length]);
    assert.equal(found.errors!.length, 3);
    for (const [source, { image }] of shown.entries()) {
      const result = found.results!.find((its) => its.source === source);
      assert.deepEqual(result!.bins, referenceOf([lbp()], image).bins);
    }
  });
});

test('frames whose pixels or colours are wanted are opened one by one, and so are the frames of a short run', async () => {
  await withFolder(async (folder) => {
    const uris = await putFrames(folder, 4);
    const wanted = async (lease: Lease, before?: number): Promise<number[]> => {
      const { feed, taken } = notedFeed(before);
      assert.deepEqual(await computed(lease, feed), await computed(lease));
      return taken;
    };
    assert.deepEqual(await wanted(frameLease(folder, uris, { previews: 1 })), [3]);
    assert.deepEqual(await wanted(frameLease(folder, uris, { wantsMap: true })), []);
    const coloured = { kernel: 'conv', parameters: { kernel: 'gaussian-5', channels: 'rgb' }, border: '' };
    assert.deepEqual(await wanted(frameLease(folder, uris, { pipeline: { operations: [coloured] } })), []);
    assert.deepEqual(await wanted(frameLease(folder, uris), 4), []);
    assert.deepEqual(await wanted(frameLease(folder, uris), 3), [4]);
  });
});

test('frames that exceed one batch are read in several, and an aborted shard gives its memory back', async () => {
  await withFolder(async (folder) => {
    const uris = await putFrames(folder, 10);
    const lease = frameLease(folder, uris);
    const few = noted(device, { batchBytes: 4 * 512 });
    const { feed, taken } = notedFeed();
    assert.deepEqual(await computed(lease, feed, few.device), await computed(lease));
    assert.deepEqual([taken, few.out()], [[4, 4, 2], 0]);

    const stop = new AbortController();
    const stopping: RawThreads['read'] = (...batch) => {
      stop.abort(new Error('not wanted'));
      return threads.read(...batch);
    };
    const rawFeed = new RawFeed({ read: stopping, close: () => threads.close() }, 0);
    await assert.rejects(createTestExecutor(few.device, { rawFeed })(lease, stop.signal), { message: 'not wanted' });
    const broken = new RawFeed(
      { read: () => Promise.reject(new Error('the thread has ended')), close: () => threads.close() },
      0,
    );
    await assert.rejects(createTestExecutor(few.device, { rawFeed: broken })(lease, never), /the thread has ended/);
    assert.equal(few.out(), 0);
  });
});

test('reading has half as many threads as decoding', () => {
  assert.deepEqual([1, 2, 4, 16, 64].map(rawThreads), [1, 1, 2, 8, 8]);
});
