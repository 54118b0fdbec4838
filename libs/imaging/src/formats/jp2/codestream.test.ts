import assert from 'node:assert/strict';
import { test } from 'node:test';
import { temporaryFile } from '@halogrid/sources/testing-files';
import { openImage } from '../../open-image.ts';
import { decodeOpen, decodeWhole, expectedFixtures, fixtureBytes, fixtureUri, sha256 } from '../../testing/images.ts';
import { writeTiff } from '../tiff/testing/write-tiff.ts';

// Headers that lie, made from a good file by hand: each must be refused before memory is taken for what it claims.

const good = fixtureBytes('tiles.jp2');
const stream = good.indexOf(Buffer.from('ff4fff51', 'hex'));
const coding = good.indexOf(Buffer.from('ff52', 'hex'), stream);
const part = good.indexOf(Buffer.from('ff90000a', 'hex'), stream);
/** Writes numbers of that many bytes. */
const write =
  (numbers: readonly (readonly [at: number, value: number])[], size = 4) =>
  (bytes: Buffer): Buffer => {
    for (const [at, value] of numbers) bytes.writeUIntBE(value, at, size);
    return bytes;
  };
/** Writes the sizes of the image and of its tiles. */
const sizes = (image: number, tile: number) =>
  write([0, 1, 4, 5].map((i) => [stream + 8 + 4 * i, i < 2 ? image : tile] as const));

const lies: [what: string, change: (bytes: Buffer) => Buffer, message: RegExp][] = [
  ['no width', write([[stream + 8, 0]]), /^The image has no pixels: 0x61$/],
  ['a begin behind the end', write([[stream + 16, 97]]), /^The image has no pixels: 0x61$/],
  ['no tile width', write([[stream + 24, 0]]), /^The JPEG 2000 is damaged: its first tile, 0x32 at/],
  ['tiles of one pixel', sizes(2 ** 32 - 1, 1), /tiles of 1x1 are \d+, and 65535 are allowed$/],
  ['a huge tile', sizes(2 ** 32 - 1, 2 ** 32 - 1), /^A tile of the JPEG 2000 has 4294967295x4294967295 pixels of 3 /],
  ['a huge image of large tiles', sizes(2 ** 20, 6144), /^1048576x1048576 is 1099511627776 pixels, more than/],
  ['16384 components', write([[stream + 40, 16384]], 2), /the length of its size \(SIZ\) is wrong$/],
  ['depths that differ', write([[stream + 45, 11]], 1), /^A JPEG 2000 with components of different depths is not/],
  ['chroma with fewer samples', write([[stream + 46, 2]], 1), /^A JPEG 2000 with components that have fewer samples/],
  [
    '37 bits',
    write(
      [0, 3, 6].map((i) => [stream + 42 + i, 36]),
      1,
    ),
    /^37-bit unsigned samples of a JPEG 2000 are not supported/,
  ],
  ['99 halvings', write([[coding + 9, 99]], 1), /its segment COD makes no sense$/],
  ['a part of another tile', write([[part + 4, 9]], 2), /it has a part of tile 9, and 6 tiles$/],
  ['a part twice', write([[part + 4, 1]], 2), /it has nothing of tile 0 of 6$/],
  ['a part without end', write([[part + 6, 2 ** 31]]), /ends at byte \d+, and the codestream at byte \d+$/],
  ['a part that is too short', write([[part + 6, 3]]), /a part of tile 0 has 3 bytes$/],
  ['no coding', write([[coding + 1, 0x64]], 1), /it has no segment COD, which says how it is coded$/],
  ['an unknown segment', write([[coding + 1, 0x77]], 1), /^A JPEG 2000 with the segment FF77 is not supported/],
  ['a cut header', (bytes) => bytes.subarray(0, coding + 3), /^The JPEG 2000 is cut off or damaged: /],
  ['a cut tile', (bytes) => bytes.subarray(0, -99), /^The JPEG 2000 is cut off or damaged: /],
  ['a cut codestream', (bytes) => bytes.subarray(stream, -99), /ends at byte \d+, and the codestream at byte \d+$/],
  ['no codestream', (bytes) => bytes.subarray(0, stream - 8), /it has no codestream \(box jp2c\)$/],
  [
    'YCbCr',
    (bytes) => write([[bytes.indexOf('colr') + 7, 18]])(bytes),
    /^A JPEG 2000 in YCbCr \(sYCC\) has no defined luma/,
  ],
  [
    'two codestreams',
    (bytes) => Buffer.concat([stated(bytes), stated(bytes).subarray(stream - 8)]),
    /^A JPX of 2 codestreams is not supported: a JP2 of one is$/,
  ],
];

/** The file with the length of its codestream stated. */
const stated = (bytes: Buffer): Buffer => write([[stream - 8, bytes.length - stream + 8]])(Buffer.from(bytes));

test('headers that lie are refused by a sentence each', async (t) => {
  for (const [what, change, message] of lies) {
    const uri = await temporaryFile(t, 'a.jp2', change(Buffer.from(good)));
    await assert.rejects(openImage(uri), { name: 'InputError', message }, what);
  }
});

test('the damage of a tile is named, and leaves the next file as it is', async (t) => {
  // Behind the head of a part, a segment COD of 2 bytes.
  const tile = Buffer.concat([good.subarray(0, part + 12), Buffer.from([0xff, 0x52, 0, 2]), good.subarray(part + 16)]);
  const damaged = await openImage(await temporaryFile(t, 'a.jp2', tile));
  const message = /^Tile 0 of the JPEG 2000 is damaged: OpenJPEG says "[^"]+"$/;
  await assert.rejects(decodeOpen(damaged), { name: 'InputError', message });
  await damaged.close();
  assert.equal(sha256(await decodeWhole(fixtureUri('tiles.jp2'))), expectedFixtures['tiles.jp2']!.sha256);
});

test('a block of a TIFF that is another image than the TIFF says is refused by its name', async (t) => {
  const inStrip = (width: number, block: Uint8Array): Buffer => {
    const tags = {
      Compression: [34712],
      PhotometricInterpretation: [2],
      SamplesPerPixel: [3],
      BitsPerSample: [8, 8, 8],
    };
    return writeTiff({ width, height: 61, blocks: [block], tags });
  };
  const refusals: [tiff: Buffer, why: string][] = [
    [inStrip(97, good), 'it has 6 tiles of its own, and 1 is supported'],
    [
      inStrip(90, good),
      'it has 97x61 pixels of 3 unsigned samples of 8 bits where the TIFF has 90x61 pixels of 3 unsigned samples of 8 bits',
    ],
    [
      inStrip(97, good.subarray(0, 60)),
      'the JPEG 2000 is cut off or damaged: the box at byte 32 ends at byte 77, and the file at byte 60',
    ],
  ];
  for (const [tiff, why] of refusals) {
    const image = await openImage(await temporaryFile(t, 'a.tif', tiff));
    const message = `The JPEG 2000 in strip 0 of the TIFF cannot be decoded: ${why}`;
    await assert.rejects(decodeOpen(image), { name: 'InputError', message });
    await image.close();
  }
});
