import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { InputError, openImage } from '@halogrid/imaging';
import { CpuDevice } from '../devices/cpu-device.ts';
import { createTestExecutor, frameLease, patternImage, tileLease, tilesOf, withFolder } from './shard-fixture.ts';

const device = new CpuDevice({ threads: 1 });
after(() => device.close());
const never = new AbortController().signal;
const size = { width: 40, height: 20 };

/** An executor for which some source is out of reach as often as that. */
function outOfReach(part: string, times = Number.POSITIVE_INFINITY) {
  let left = times;
  return createTestExecutor(device, {
    openImage: async (uri) => {
      if (uri.includes(part) && left-- > 0) throw new InputError('read', 'The host refuses connections', true);
      return openImage(uri);
    },
  });
}

test('a source that cannot be reached fails its shard, and is set aside alone at the third attempt', async () => {
  await withFolder(async (folder) => {
    const uris = await Promise.all(
      ['a', 'far', 'c'].map((name, i) => folder.put(`${name}.pgm`, patternImage(size, i).file)),
    );
    const execute = outOfReach('far.pgm');
    for (const attempt of [1, 2]) {
      await assert.rejects(execute(frameLease(folder, uris, { attempt }), never), /^InputError: The host refuses/);
    }
    const { results, errors } = await execute(frameLease(folder, uris, { attempt: 3 }), never);
    assert.deepEqual(
      results.map(({ source }) => source),
      [0, 2],
    );
    assert.deepEqual(errors, [{ source: 1, stage: 'read', error: 'The host refuses connections' }]);
  });
});

test('a tiled image that could not be reached is read as soon as it can be', async () => {
  await withFolder(async (folder) => {
    const uri = await folder.put('far.pgm', patternImage(size, 1).file);
    const execute = outOfReach('far.pgm', 1);
    const [tile] = tilesOf(size, 20);
    await assert.rejects(execute(tileLease(folder, uri, size, tile!), never), /^InputError: The host refuses/);
    const { results, errors } = await execute(tileLease(folder, uri, size, tile!), never);
    assert.deepEqual([results.length, errors], [1, []]);
  });
});

test('a video that cannot be reached fails its shard, and its frames are set aside at the third attempt', async () => {
  await withFolder(async (folder) => {
    const uri = 'http://127.0.0.1:1/far.mp4';
    const sources = [0, 1].map((index) => ({ index, uri, place: { packet: index } }));
    const segment = { packet: 0, position: 48, size: 9, strictFrom: 0, end: 2, version: '"1" 100', hwaccel: '' };
    const lease = (attempt: number) =>
      frameLease(folder, [], { attempt, work: { $case: 'frames', value: { sources, segment } } });
    const execute = createTestExecutor(device);
    for (const attempt of [1, 2]) await assert.rejects(execute(lease(attempt), never), /refuses connections$/);
    const { results, errors } = await execute(lease(3), never);
    assert.deepEqual(results, []);
    const error = "The host '127.0.0.1:1' refuses connections";
    assert.deepEqual(
      errors,
      [0, 1].map((source) => ({ source, stage: 'read', error })),
    );
  });
});
