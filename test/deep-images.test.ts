import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import sharp from 'sharp';
import type { ServingCluster } from './cluster.ts';
import { lbpByDefinition, type Picture } from './lbp-definition.ts';
import { readMap } from './read-map.ts';
import { readHistogram, readJson } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';
import { sharedCluster } from './shared-cluster.ts';
import { writeTiledTiff } from './tiled-tiff.ts';

// The same 16-bit picture gives the codes of its 16-bit values in every format that can hold it, for any cut.

const folder = scratchFolder();
const source = join(folder, 'source');
const width = 150;
const height = 110;
const tilePx = 64;
// Waves with few different high bytes, and low bytes without a pattern, so that the high or low bytes alone would give
// other codes.
const valueAt = (x: number, y: number): number =>
  256 * Math.round(100 + 90 * Math.sin(x / 9) * Math.cos(y / 7)) + ((x * 73 + y * 151 + x * y) % 256);
const picture: Picture<Uint16Array> = {
  width,
  height,
  pixels: Uint16Array.from({ length: width * height }, (_, i) => valueAt(i % width, Math.floor(i / width))),
};
const names = ['a', 'b', 'c', 'd'];
const clusters: Record<string, ServingCluster> = {};

before(async () => {
  mkdirSync(source);
  const pgm = Buffer.from(picture.pixels.buffer.slice(0) as ArrayBuffer).swap16();
  writeFileSync(join(source, 'a.pgm'), Buffer.concat([Buffer.from(`P5 ${width} ${height} 65535\n`), pgm]));
  const image = () => sharp(picture.pixels, { raw: { width, height, channels: 1 } }).toColourspace('grey16');
  await image().png().toFile(join(source, 'b.png'));
  await image().tiff({ compression: 'lzw', predictor: 'horizontal' }).toFile(join(source, 'c.tif'));
  const drawTile = (left: number, top: number): Picture<Uint16Array> => ({
    width: tilePx,
    height: tilePx,
    pixels: Uint16Array.from({ length: tilePx ** 2 }, (_, i) =>
      valueAt(left + (i % tilePx), top + Math.floor(i / tilePx)),
    ),
  });
  await writeTiledTiff(join(source, 'd.tif'), picture, tilePx, drawTile, 16);
  for (const device of ['cpu', 'software'] as const) clusters[device] = await sharedCluster(device);
});

after(() => Promise.all(Object.values(clusters).map((cluster) => cluster.stop())));

for (const [device, args] of [
  ['cpu', []],
  ['cpu', ['--tile', '47']],
  ['software', ['--tile', '47']],
] as const) {
  test(`on ${device} ${args.join(' ')}`, async () => {
    const out = join(folder, `${device} ${args.join(' ')}`);
    const run = ['run', source, '--border', 'mirror', '--map', 'tiff', '--out', out, ...args];
    const { code, stderr } = await clusters[device]!.halogrid(run);
    assert.equal(code, 0, stderr);
    const { codes, bins, counted } = lbpByDefinition(picture, 'mirror', 'nw-cw-msb');
    for (const name of names) {
      assert.deepEqual(
        await readMap(join(out, 'maps', `${name}.tif`)),
        { width, height, codes: Buffer.from(codes) },
        name,
      );
    }
    const times = names.length;
    assert.deepEqual(readHistogram(out), {
      ...readHistogram(out),
      counted: times * counted,
      bins: bins.map((n) => times * n),
    });
    assert.equal(readJson(out, 'job.json').counts.quarantined, 0);
  });
}
