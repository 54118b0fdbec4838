import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openImage } from '@halogrid/imaging';
import { Cause } from '@halogrid/proto';
import { InputError } from '@halogrid/sources';
import { CpuDevice } from '../devices/cpu-device.ts';
import {
  createTestExecutor,
  frameLease,
  packed,
  patternImage,
  tileLease,
  tilesOf,
  withFolder,
} from './testing/shard-fixture.ts';

const device = new CpuDevice({ threads: 1 });
after(() => device.close());
const never = new AbortController().signal;
const size = { width: 40, height: 20 };

/** An executor that cannot reach sources whose URI contains `part`, the first `times` times. */
function outOfReach(part: string, times = Number.POSITIVE_INFINITY) {
  let left = times;
  return createTestExecutor(device, {
    openImage: async (uri) => {
      if (uri.includes(part) && left-- > 0)
        throw new InputError('read', 'The host refuses connections', { fault: 'away' });
      return openImage(uri);
    },
  });
}

test('a source that cannot be reached is reported as out of reach, and the others are computed', async () => {
  await withFolder(async (folder) => {
    const uris = await Promise.all(
      ['a', 'far', 'c'].map((name, i) => folder.put(`${name}.pgm`, patternImage(size, i).file)),
    );
    const { results, errors } = await outOfReach('far.pgm')(frameLease(folder, uris), never);
    assert.deepEqual(
      results.map(({ source }) => source),
      [0, 2],
    );
    const error = 'The host refuses connections';
    assert.deepEqual(errors, [{ source: 1, stage: 'read', error, cause: Cause.AWAY }]);
  });
});

test('a tiled image that could not be reached is read as soon as it can be', async () => {
  await withFolder(async (folder) => {
    const uri = await folder.put('far.pgm', patternImage(size, 1).file);
    const execute = outOfReach('far.pgm', 1);
    const [tile] = tilesOf(size, 20);
    const first = await execute(tileLease(folder, uri, size, tile!), never);
    assert.deepEqual([first.results, first.errors[0]!.cause], [[], Cause.AWAY]);
    const { results, errors } = await execute(tileLease(folder, uri, size, tile!), never);
    assert.deepEqual([results.length, errors], [1, []]);
  });
});

test('frames of a video that cannot be reached are reported as out of reach', async () => {
  await withFolder(async (folder) => {
    const uri = 'http://127.0.0.1:1/far.mp4';
    const sources = [0, 1].map((index) => ({ index, uri, place: { packet: index } }));
    const segment = { packet: 0, position: 48, size: 9, strictFrom: 0, end: 2, version: '"1" 100', hwaccel: '' };
    const lease = frameLease(folder, [], { work: { $case: 'frames', value: { segment } }, sources: packed(sources) });
    const { results, errors } = await createTestExecutor(device)(lease, never);
    assert.deepEqual(results, []);
    const error = "The host '127.0.0.1:1' refuses connections";
    assert.deepEqual(
      errors,
      [0, 1].map((source) => ({ source, stage: 'read', error, cause: Cause.AWAY })),
    );
  });
});

test('a frame of another version than the listed one is reported as changed, whatever it contains', async () => {
  await withFolder(async (folder) => {
    const uris = await Promise.all(['a', 'b'].map((name, i) => folder.put(`${name}.pgm`, patternImage(size, i).file)));
    const image = await openImage(uris[0]!);
    await image.close();
    const sources = uris.map((uri, index) => ({ index, uri, pin: index === 0 ? image.version! : '1 1' }));
    const lease = frameLease(folder, [], { sources: packed(sources) });
    const { results, errors } = await createTestExecutor(device)(lease, never);
    assert.deepEqual(
      [results.map(({ source }) => source), errors.map(({ source, cause }) => [source, cause])],
      [[0], [[1, Cause.CHANGED]]],
    );
  });
});
