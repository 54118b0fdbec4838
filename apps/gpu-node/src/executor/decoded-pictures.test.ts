// JPEGs that need more than gray pixels of local files: colours, maps, files on servers.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { mutate } from '@halogrid/jpeg/testing';
import type { Lease } from '@halogrid/proto';
import { startServer, type TestServer } from '@halogrid/sources/testing-servers';
import { repeated } from '@halogrid/testing';
import type { NodeDevice } from '../devices/device.ts';
import { sharedDevice } from '../devices/testing/shared-device.ts';
import { JpegThreads } from '../feed/jpeg-threads.ts';
import { chunksIn, computed, feedsOf, fixtures, putMixed, sum, watched } from './testing/decoding.ts';
import { frameLease, type TestFolder, withFolder, withSource } from './testing/shard-fixture.ts';

let device: NodeDevice;
before(async () => {
  device = await sharedDevice();
});
const threads = new JpegThreads(1);
after(async () => {
  await threads.close();
});

/** The same in all tests, because a software GPU takes seconds to compile it. */
const inColour = { kernel: 'conv', parameters: { kernel: 'sobel', channels: 'rgb', as: 'u8' }, border: 'mirror' };

/** The answer of a lease whose JPEGs the device decodes, and the number of files in each of the device's batches. */
async function onDevice(lease: Lease, changes: { maxBytes?: number; batchBytes?: number } = {}) {
  const { on, out, batches } = watched(device, {}, changes);
  const found = await computed(lease, on, feedsOf('gpu', on, threads));
  assert.equal(out(), 0);
  return { found, batches };
}

/** The same, with the answer if cores decode. */
async function both(lease: Lease) {
  const { on, out, batches } = watched(device);
  const expected = await computed(lease, on, feedsOf('cpu', on, threads));
  assert.deepEqual([batches, out()], [[], 0]);
  return { expected, ...(await onDevice(lease)) };
}

test('colours and sentences are the same wherever JPEGs are decoded: JPEGs of every kind, damaged ones and other files', async () => {
  await withFolder(async (folder) => {
    const lease = frameLease(folder, await putMixed(folder), {
      previews: 2,
      pipeline: { operations: [inColour] },
    });
    const { expected, found, batches } = await both(lease);
    assert.deepEqual(found, expected);
    assert.ok(expected.results!.length > 20 && expected.errors!.length > 20);
    assert.equal(sum(expected.mended!.kinds.map(({ sources }) => sources)) >= 10, true);
    assert.ok(batches.length === 1 && batches[0]! > 20, `${batches} files went to the device`);
    const small = await onDevice(lease, { maxBytes: 24_000, batchBytes: 300_000 });
    assert.deepEqual(small.found, expected);
    assert.ok(small.batches.length > 1);
  });
});

/** The number of damaged files, from the environment. Each takes a millisecond on a machine with a GPU. */
const mutantCount = Number(process.env.HALOGRID_JPEG_MUTANTS ?? repeated(100, 500));
const mutantsEach = 500;

test(`${mutantCount} mutants give the same result or sentence wherever they are decoded`, async (t) => {
  const originals = fixtures.map((path) => readFileSync(path));
  const [lbp, edges] = [{}, { pipeline: { operations: [inColour] } }];
  let [done, onDevices, merged, refused] = [0, 0, 0, 0];
  while (done < mutantCount) {
    await withFolder(async (folder) => {
      const uris = await Promise.all(
        Array.from({ length: Math.min(mutantsEach, mutantCount - done) }, (_, i) => {
          const seed = done + i + 1;
          const [one, other] = [originals[seed % originals.length]!, originals[(3 * seed) % originals.length]!];
          return folder.put(`${seed}.jpg`, mutate(one, other, seed));
        }),
      );
      const pipeline = (done / mutantsEach) % 2 === 0 ? lbp : edges;
      const { expected, found, batches } = await both(frameLease(folder, uris, pipeline));
      assert.deepEqual(found, expected, `seeds from ${done + 1} on`);
      done += uris.length;
      onDevices += sum(batches);
      merged += expected.results!.length;
      refused += expected.errors!.length;
    });
  }
  assert.equal(merged + refused, mutantCount);
  t.diagnostic(
    `${onDevices} of ${mutantCount} mutants went to the device; ${merged} have results, ${refused} a sentence`,
  );
  assert.ok(onDevices > mutantCount / 3 && merged > 0 && refused > 0, `${onDevices}, ${merged}, ${refused}`);
});

async function withMaps(folder: TestFolder, uris: readonly string[], lease: Partial<Lease>): Promise<number> {
  const [cores, its] = [watched(device), watched(device)];
  const leases = ['cores', 'device'].map((name) =>
    frameLease(folder, uris, { ...lease, wantsMap: true, previews: 1, scratch: `${folder.scratch}/${name}` }),
  );
  for (const { scratch } of leases) mkdirSync(new URL(scratch), { recursive: true });
  const expected = await computed(leases[0]!, cores.on, feedsOf('cpu', cores.on, threads));
  assert.deepEqual(await computed(leases[1]!, its.on, feedsOf('gpu', its.on, threads)), expected);
  const [kept, found] = leases.map(({ scratch }) => chunksIn(fileURLToPath(scratch)));
  assert.ok(kept!.size >= expected.results!.length);
  assert.deepEqual(found, kept);
  assert.deepEqual([cores.maps(), its.maps()], [0, 0], 'the memory of maps is given back');
  return sum(its.batches);
}

test('maps are the same wherever JPEGs are decoded, in gray and in colour', async () => {
  await withFolder(async (folder) => {
    const uris = await putMixed(folder);
    assert.ok((await withMaps(folder, uris, {})) > 20);
    assert.ok((await withMaps(folder, uris, { pipeline: { operations: [inColour] } })) > 20);
  });
});

test('a batch has no more maps than results may take', async () => {
  await withFolder(async (folder) => {
    const path = fixtures.find((name) => name.endsWith('420.jpg'))!;
    const uris = await Promise.all([1, 2, 3, 4, 5, 6].map((i) => folder.put(`${i}.jpg`, readFileSync(path))));
    const limited = watched(device, { maxStagingBytes: 80_000 });
    const lease = frameLease(folder, uris, { wantsMap: true, pipeline: { operations: [inColour] } });
    const { results, errors } = await computed(lease, limited.on, feedsOf('gpu', limited.on, threads));
    assert.deepEqual([results!.length, errors], [6, []]);
    assert.ok(limited.batches.length > 1 && sum(limited.batches) === 6, `${limited.batches}`);
  });
});

test('JPEGs of servers are decoded by the device as well, each in the planned version', async () => {
  const files = new Map<string, Uint8Array>(fixtures.map((path) => [`/${basename(path)}`, readFileSync(path)]));
  for (const seed of [1, 2, 3]) {
    files.set(`/mutant-${seed}.jpg`, mutate(readFileSync(fixtures[2]!), readFileSync(fixtures[3]!), seed));
  }
  let server: TestServer | undefined;
  try {
    server = await startServer((request, response) => {
      const bytes = files.get(request.url!);
      if (!bytes) return void response.writeHead(404).end();
      response.writeHead(200, { etag: `"${bytes.length}"`, 'content-length': bytes.length }).end(bytes);
    });
    const uris = [...files.keys(), '/missing.jpg'].map((path) => `${server!.origin}${path}`);
    await withFolder(async (folder) => {
      const uri = await folder.put('local.jpg', readFileSync(fixtures[2]!));
      const { expected, found, batches } = await both(frameLease(folder, [...uris, uri]));
      assert.deepEqual(found, expected);
      assert.ok(batches.length === 2 && sum(batches) > 6, `${batches} files went to the device`);
      assert.match(expected.errors!.map(({ error }) => error).join('\n'), /404/);

      const lease = withSource(frameLease(folder, uris.slice(2, 4)), 0, { pin: 'etag "another" size=1' });
      const other = await both(lease);
      assert.deepEqual([other.found, other.expected.errors!.length, sum(other.batches)], [other.expected, 1, 1]);
    });
  } finally {
    await server?.close();
  }
});
