import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { loadSharp } from '@halogrid/imaging/sharp';
import { makeVideo, noFfmpeg, videoKinds } from '@halogrid/imaging/testing-videos';
import { temporaryFolder } from '../testing/maps.ts';
import { contactSheet } from './contact-sheet.ts';

test('a sheet shows images, deep ones too, and leaves the place of others empty', async (t) => {
  const folder = await temporaryFolder(t);
  // All pixels have one gray: 60 with 8 bits, and 60 in the upper 8 of 16 bits.
  await writeFile(join(folder, 'a.pgm'), Buffer.concat([Buffer.from('P5 8 6 255\n'), Buffer.alloc(48, 60)]));
  const deep = Buffer.from(Uint8Array.from({ length: 96 }, (_, i) => (i % 2 ? 200 : 60)));
  await writeFile(join(folder, 'b.pgm'), Buffer.concat([Buffer.from('P5 8 6 65535\n'), deep]));
  const tiles = ['a.pgm', 'b.pgm', 'none.pgm'].map((name) => ({
    shown: { uri: pathToFileURL(join(folder, name)).href },
    caption: [`1. <${name}>`],
  }));
  const colours = await centres(await contactSheet([{ title: 'a & b', tiles }]), 3);
  assert.deepEqual(colours, [
    [60, 60, 60],
    [60, 60, 60],
    [243, 244, 246],
  ]);
});

test('a sheet shows frames of videos', { skip: noFfmpeg }, async (t) => {
  const path = join(await temporaryFolder(t), 'a.mp4');
  makeVideo(path, videoKinds['h264.mp4']!, 20);
  const uri = pathToFileURL(path).href;
  const tiles = [3, 99].map((videoFrame) => ({ shown: { uri, videoFrame }, caption: [] }));
  const [shown, missing] = await centres(await contactSheet([{ title: 'video', tiles }]), 2);
  assert.notDeepEqual(shown, missing);
  assert.deepEqual(missing, [243, 244, 246]);
});

/** Colours in the middle of the first tiles of a sheet of one row. */
async function centres(png: Uint8Array, tiles: number): Promise<number[][]> {
  const sharp = await loadSharp();
  const { data, info } = await sharp(png).removeAlpha().raw().toBuffer({ resolveWithObject: true });
  return Array.from({ length: tiles }, (_, i) => {
    // The layout is that of contact-sheet.ts.
    const [x, y] = [12 + i * 212 + 100, 12 + 34 + 75];
    return [...data.subarray(3 * (y * info.width + x), 3 * (y * info.width + x) + 3)];
  });
}
