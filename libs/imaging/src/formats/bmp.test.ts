import assert from 'node:assert/strict';
import { test } from 'node:test';
import { temporaryFile } from '@halogrid/sources/testing-files';
import { openImage } from '../open-image.ts';
import { decodeWhole, expectedFixtures, fixtureBytes, fixtureUri, noGaps, planes } from '../testing/images.ts';

// What fixtures cannot show: regions, and headers that no program writes. All in memory and small: milliseconds.

const plain = Object.keys(expectedFixtures).filter((name) => name.endsWith('.bmp') && !name.startsWith('rle'));

test('a region of a BMP has the pixels of the whole, whatever its depth', async () => {
  assert.ok(plain.length > 8);
  for (const name of plain) {
    const image = await openImage(fixtureUri(name));
    const whole = await decodeWhole(fixtureUri(name), 'rgb');
    for (const region of [
      { x: 5, y: 7, width: 3, height: 50 },
      { x: image.width - 1, y: image.height - 1, width: 1, height: 1 },
    ]) {
      const target = planes(region.width, region.height, 'rgb', noGaps);
      await image.decode(region, target);
      const expected = [0, 1, 2].flatMap((plane) =>
        Array.from({ length: region.height }, (_, row) => {
          const from = (plane * image.height + region.y + row) * image.width + region.x;
          return [...whole.subarray(from, from + region.width)];
        }).flat(),
      );
      assert.deepEqual([...target.bytes], expected, name);
    }
    await image.close();
  }
});

/** A BMP of 8 bits with these numbers in place of its own. */
function changed(name: string, ...changes: [at: number, bytes: 2 | 4, value: number][]): Buffer {
  const bytes = fixtureBytes(name);
  for (const [at, size, value] of changes) bytes.writeIntLE(value, at, size);
  return bytes;
}

const rle = (...codes: number[]): Buffer =>
  Buffer.concat([changed('rle8.bmp', [18, 4, 4], [22, 4, 2]).subarray(0, 14 + 40 + 1024), Buffer.from(codes)]);

const refusals: [Buffer, RegExp][] = [
  [fixtureBytes('8-bit.bmp').subarray(0, 20), /^The BMP has no header: it is cut off or damaged$/],
  [changed('8-bit.bmp', [14, 4, 41]), /^The BMP has a header of 41 bytes, which no version has$/],
  [changed('8-bit.bmp', [18, 4, -5]), /^The image has no pixels: -5x61$/],
  [changed('8-bit.bmp', [22, 4, 0]), /^The image has no pixels: 93x0$/],
  [
    changed('8-bit.bmp', [22, 4, 70_000]),
    /^The file is truncated: 93x70000 pixels take 6719997 bytes but it holds 5856$/,
  ],
  [changed('8-bit.bmp', [28, 2, 7]), /^A BMP with 7 bits a pixel and compression none is not supported$/],
  [changed('8-bit.bmp', [30, 4, 5]), /^A BMP with 8 bits a pixel and compression PNG is not supported$/],
  [changed('8-bit.bmp', [30, 4, 77]), /^A BMP with 8 bits a pixel and compression 77 is not supported$/],
  [changed('8-bit.bmp', [10, 4, 40]), /^The BMP states that its pixels begin at byte 40, inside its header$/],
  [changed('8-bit.bmp', [46, 4, 3]), /^The BMP has a pixel of colour \d+, and 3 colours$/],
  [changed('rgba.bmp', [54, 4, 0x0f0f]), /^The BMP has the colour mask 0xf0f: masks of 1 to 8 bits that lie /],
  [changed('rgba.bmp', [58, 4, 0]), /^The BMP has the colour mask 0x0: /],
  [changed('rle8.bmp', [18, 4, 2 ** 15], [22, 4, 2 ** 15]), /^32768x32768 is 1073741824 pixels, more than /],
  [changed('rle8.bmp', [22, 4, -61]), /^A BMP with 8 bits a pixel and compression RLE8 is not supported$/],
  [rle(5, 1), /^The BMP has pixels outside the image, in row 0$/],
  [rle(0, 2, 0, 3, 1, 1), /^The BMP has pixels outside the image, in row 3$/],
  [rle(4, 1, 0, 0), /^The BMP is cut off: its pixels end in row 1 of 2$/],
  [rle(0, 4, 1, 2), /^The BMP is cut off: its pixels end in row 0 of 2$/],
];

test('what a BMP may not state is refused in one sentence', async (t) => {
  for (const [bytes, message] of refusals) {
    const uri = await temporaryFile(t, 'bad.bmp', bytes);
    await assert.rejects(decodeWhole(uri), { name: 'InputError', stage: 'decode', message });
  }
});

test('pixels that a run-length encoded BMP skips have its first colour', async (t) => {
  // The lower row: one pixel of colour 9, then two to the right; the upper: nothing.
  const bytes = rle(1, 9, 0, 2, 2, 0, 1, 9, 0, 1);
  const [skipped, nine] = [0, 9].map((colour) => bytes[54 + 4 * colour + 2]!);
  const red = (await decodeWhole(await temporaryFile(t, 'skips.bmp', bytes), 'rgb')).subarray(0, 8);
  assert.deepEqual([...red], [skipped, skipped, skipped, skipped, nine, skipped, skipped, nine]);
});
