import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { deflateSync } from 'node:zlib';
import { setEnvironment } from '@halogrid/sources/testing-files';
import { type ServedFile, sendFile, startServer, startTestS3 } from '@halogrid/sources/testing-servers';
import { openImage } from '../open-image.ts';
import {
  type Channels,
  decodeOpen,
  decodeWhole,
  expectedFixtures,
  fixtureBytes,
  fixtureUri,
  planes,
  sha256,
} from '../testing/images.ts';

const s3 = { accessKeyId: 'AKIDTEST', secretAccessKey: 'a secret', region: 'eu-test-1', bucket: 'pictures' };

/** Serves every file of the fixtures folder, and `others`; the function gives a URI. */
async function serve(t: TestContext, how: Partial<ServedFile> = {}, others: Record<string, Buffer> = {}) {
  const server = await startServer((request, response) => {
    const name = decodeURIComponent(request.url!.slice(1));
    sendFile({ bytes: others[name] ?? fixtureBytes(name), etag: '"x"', ...how }, request, response);
  });
  t.after(() => server.close());
  return (name: string) => `${server.origin}/${encodeURIComponent(name)}`;
}

test('every fixture decodes from a web server as from disk', async (t) => {
  for (const how of [{}, { withoutRanges: true }]) {
    const uriOf = await serve(t, how);
    for (const [name, expected] of Object.entries(expectedFixtures)) {
      const image = await openImage(uriOf(name));
      assert.deepEqual([image.width, image.height], [expected.width, expected.height], name);
      assert.equal(sha256(await decodeOpen(image)), expected.sha256, name);
      assert.equal(sha256(await decodeOpen(image, 'rgb')), expected.rgbSha256, name);
      const { length } = fixtureBytes(name);
      assert.ok(image.inputBytes > 0 && image.inputBytes <= length, `${name}: ${image.inputBytes} of ${length}`);
      await image.close();
    }
  }
});

test('what cannot be decoded fails with the same sentence as on disk', async (t) => {
  const uriOf = await serve(t);
  const bad = readdirSync(new URL('../../fixtures/', import.meta.url)).filter((name) => !expectedFixtures[name]);
  let failures = 0;
  for (const name of bad) {
    const onDisk = await decodeWhole(fixtureUri(name)).catch((error: Error) => error.message);
    if (typeof onDisk !== 'string') continue;
    failures++;
    await assert.rejects(decodeWhole(uriOf(name)), { name: 'InputError', message: onDisk }, name);
  }
  assert.ok(failures > 3);
});

test('every fixture decodes from S3 as from disk', async (t) => {
  const server = await startTestS3(s3);
  t.after(() => server.close());
  setEnvironment(t, server.environment);
  for (const [name, { sha256: expected }] of Object.entries(expectedFixtures)) {
    const key = `a b/c+d (1)*'!~ü/${name}`;
    server.objects.set(key, fixtureBytes(name));
    assert.equal(sha256(await decodeWhole(`s3://pictures/${key}`)), expected, name);
  }
});

test('a corner of a large tiled TIFF costs little more than its tiles', async (t) => {
  for (const compressed of [false, true]) {
    // Noise in the low bits, so that it stays large when it is deflated.
    const { tiff, tileBytes } = tiledTiff(8192, 6144, 256, compressed);
    assert.ok(tiff.length > 20_000_000);
    const uriOf = await serve(t, {}, { 'large.tif': tiff });
    const image = await openImage(uriOf('large.tif'));
    const opened = image.inputBytes;
    assert.ok(opened < 300_000, `${opened} bytes to open it`);
    const region = { x: 7936 - 100, y: 5888 - 100, width: 356, height: 356 };
    for (const channels of ['gray', 'rgb'] satisfies Channels[]) {
      const target = planes(region.width, region.height, channels);
      await image.decode(region, target);
      for (const [x, y] of [
        [0, 0],
        [355, 355],
        [99, 100],
        [100, 99],
      ] as const) {
        assert.equal(target.bytes[y * 356 + x], pixelAt(region.x + x, region.y + y));
      }
    }
    const read = image.inputBytes - opened;
    // Four tiles, at the ends of two rows of them.
    assert.ok(read >= 4 * tileBytes * 0.9 && read < 4 * tileBytes * 1.1 + 2 ** 17, `${read} of ${tiff.length} bytes`);
    await image.close();
  }
});

test('any region of a tiled TIFF or a binary PNM is the same as on disk', async (t) => {
  const uriOf = await serve(t);
  const names = Object.keys(expectedFixtures).filter((name) => /^tiled-|^deep-tiles|\.(pgm|ppm)$/.test(name));
  for (const name of names) {
    const [remote, local] = await Promise.all([openImage(uriOf(name)), openImage(fixtureUri(name))]);
    if (remote.readsRegions) {
      const { width, height } = remote;
      const regions = [
        { x: 0, y: 0, width: 1, height: 1 },
        { x: width - 1, y: height - 1, width: 1, height: 1 },
        { x: width >> 2, y: height >> 2, width: width >> 1, height: height >> 1 },
        { x: 0, y: height >> 1, width, height: height - (height >> 1) },
      ];
      await Promise.all(
        regions.map(async (region) => {
          for (const channels of ['gray', 'rgb'] satisfies Channels[]) {
            const gaps = { before: 2, padding: 6, between: 8 };
            const [a, b] = [1, 2].map(() => planes(region.width, region.height, channels, gaps, local.pixel));
            await remote.decode(region, a!);
            await local.decode(region, b!);
            assert.equal(Buffer.compare(a!.bytes, b!.bytes), 0, `${name} ${JSON.stringify(region)}`);
          }
        }),
      );
    }
    await Promise.all([remote.close(), local.close()]);
  }
});

/** Noise that begins again every 512 pixels. */
const pixelAt = (x: number, y: number): number => {
  const at = (y & 511) * 512 + (x & 511);
  return (Math.imul(at ^ (at >>> 7), 2654435761) >>> 13) & 255;
};

/** An 8-bit gray TIFF with its directory at the end. */
function tiledTiff(width: number, height: number, side: number, compressed: boolean) {
  const tiles = new Map<string, Buffer>();
  const tileAt = (left: number, top: number): Buffer => {
    const known = tiles.get(`${left} ${top}`);
    if (known) return known;
    const pixels = Buffer.alloc(side * side);
    for (let i = 0; i < pixels.length; i++) pixels[i] = pixelAt(left + (i % side), top + Math.floor(i / side));
    const tile = compressed ? deflateSync(pixels, { level: 1 }) : pixels;
    tiles.set(`${left} ${top}`, tile);
    return tile;
  };
  const parts: Buffer[] = [Buffer.alloc(8)];
  let at = 8;
  const offsets: number[] = [];
  const lengths: number[] = [];
  for (let top = 0; top < height; top += side) {
    for (let left = 0; left < width; left += side) {
      const tile = tileAt(left & 511, top & 511);
      offsets.push(at);
      lengths.push(tile.length);
      parts.push(tile);
      at += tile.length;
    }
  }
  const count = offsets.length;
  const padding = at % 2;
  const entries = [
    [256, 4, 1, width],
    [257, 4, 1, height],
    [258, 3, 1, 8],
    [259, 3, 1, compressed ? 8 : 1],
    [262, 3, 1, 1],
    [277, 3, 1, 1],
    [322, 4, 1, side],
    [323, 4, 1, side],
    [324, 4, count, at + padding + 2 + 120 + 4],
    [325, 4, count, at + padding + 2 + 120 + 4 + 4 * count],
  ];
  const directory = Buffer.alloc(2 + 120 + 4 + 8 * count);
  directory.writeUInt16LE(entries.length, 0);
  for (const [i, [tag, type, values, value]] of entries.entries()) {
    directory.writeUInt16LE(tag!, 2 + 12 * i);
    directory.writeUInt16LE(type!, 4 + 12 * i);
    directory.writeUInt32LE(values!, 6 + 12 * i);
    directory.writeUInt32LE(value!, 10 + 12 * i);
  }
  // Another directory that is not there: the first page does not need it.
  directory.writeUInt32LE(at + 4096, 122);
  for (const [i, value] of [...offsets, ...lengths].entries()) directory.writeUInt32LE(value, 126 + 4 * i);
  parts[0]!.write('II*\0', 'latin1');
  parts[0]!.writeUInt32LE(at + padding, 4);
  const tiff = Buffer.concat([...parts, Buffer.alloc(padding), directory]);
  return { tiff, tileBytes: lengths.reduce((sum, length) => sum + length, 0) / count };
}
