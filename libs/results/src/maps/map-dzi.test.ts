import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Size } from '@halogrid/geometry';
import sharp from 'sharp';
import type { MapType } from '../layout/map-type.ts';
import { previewPicture } from '../pictures/preview-picture.ts';
import { copyStrip, levelsByDefinition, someSamples, temporaryFolder } from '../testing/maps.ts';
import { dziTilePx, dziXml, MapDziWriter } from './map-dzi.ts';
import { buildPyramid, pyramidSizes } from './pyramid.ts';

test('the tiles make up the picture of every level, from one pixel to the map', async (t) => {
  const folder = await temporaryFolder(t);
  const table: [size: Size, type: MapType, bins: number][] = [
    [{ width: 700, height: 260 }, { sample: 'u8', bands: 1 }, 256],
    [{ width: 256, height: 257 }, { sample: 'u16', bands: 1 }, 59],
    [{ width: 513, height: 3 }, { sample: 'u8', bands: 3 }, 256],
    [{ width: 1, height: 1 }, { sample: 'u8', bands: 1 }, 256],
  ];
  for (const [i, [size, type, bins]] of table.entries()) {
    const files = join(folder, `${i}_files`);
    const sizes = pyramidSizes(size, 1);
    const samples = someSamples(size, type);
    const writer = await MapDziWriter.create({ files, sizes, type, bins });
    await buildPyramid({
      sizes,
      type,
      kind: 'labels',
      stripRows: dziTilePx,
      read: async (y, rows, strip) => copyStrip(samples, size, type, y, rows, strip),
      write: (level, y, rows, strip) => writer.writeRows(level, y, rows, strip),
    });
    const levels = levelsByDefinition(samples, sizes, type, 'labels');
    assert.equal(levels.length, Math.ceil(Math.log2(Math.max(size.width, size.height))) + 1);
    assert.equal((await readdir(files)).length, levels.length);
    for (const [n, level] of levels.entries()) {
      const { pixels, ...raw } = previewPicture(level, sizes[n]!, type, bins);
      const picture = await readTiles(join(files, String(levels.length - 1 - n)), sizes[n]!, raw.channels);
      assert.ok(picture.equals(pixels), `level ${n} of ${i}`);
    }
  }
});

test('the .dzi names the size and the tiles', () => {
  const xml = dziXml({ width: 70_000, height: 3 });
  assert.match(
    xml,
    /<Image xmlns="http:\/\/schemas.microsoft.com\/deepzoom\/2008" Format="png" Overlap="0" TileSize="256">/,
  );
  assert.match(xml, /<Size Width="70000" Height="3"\/>/);
});

/** The picture that the tiles of a folder make up. Fails if there are other tiles. */
async function readTiles(folder: string, { width, height }: Size, channels: number): Promise<Buffer> {
  const picture = Buffer.alloc(width * height * channels);
  const expected: string[] = [];
  for (let y = 0; y < height; y += dziTilePx) {
    for (let x = 0; x < width; x += dziTilePx) {
      const name = `${x / dziTilePx}_${y / dziTilePx}.png`;
      expected.push(name);
      const tile = sharp(join(folder, name));
      const { data, info } = await (channels === 1 ? tile.toColourspace('b-w') : tile)
        .raw()
        .toBuffer({ resolveWithObject: true });
      assert.deepEqual([info.width, info.height], [Math.min(dziTilePx, width - x), Math.min(dziTilePx, height - y)]);
      assert.equal(info.channels, channels);
      for (let row = 0; row < info.height; row++) {
        const rowBytes = info.width * channels;
        data.copy(picture, ((y + row) * width + x) * channels, row * rowBytes, (row + 1) * rowBytes);
      }
    }
  }
  assert.deepEqual((await readdir(folder)).sort(), expected.sort());
  return picture;
}
