import assert from 'node:assert/strict';
import { truncate } from 'node:fs/promises';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryFile } from '@halogrid/sources/testing-files';
import { repeated } from '@halogrid/testing';
import fc from 'fast-check';
import { openImage } from '../open-image.ts';
import { assertPlanes, type Channels, decodeOpen, decodeWhole, lumaOf, noGaps, planes } from '../testing/images.ts';

const file = (t: TestContext, content: string | Uint8Array) => temporaryFile(t, 'image.pnm', content);
const bytes = (header: string, samples: ArrayLike<number>) =>
  Buffer.concat([Buffer.from(header), Uint8Array.from(samples)]);

const forms: [what: string, content: string | Uint8Array, luma: number[]][] = [
  ['P5', bytes('P5 3 2 255\n', [1, 2, 3, 4, 5, 255]), [1, 2, 3, 4, 5, 255]],
  ['P5 whose first sample looks like white space', bytes('P5\n2 1\n255\n', [10, 32]), [10, 32]],
  ['P5 with comments', bytes('P5# a\n# b 9\n 2 # c\n#d\n1\t#e\n255\n', [7, 8]), [7, 8]],
  // As netpbm reads them: a comment stands for the end of its line.
  ['P5 with comments right behind its numbers', bytes('P5\n2# w\n1#h\r255#\n', [35, 8]), [35, 8]],
  ['P5 with a sample that looks like a comment', bytes('P5 2 1 255\n', [35, 10]), [35, 10]],
  ['P5 with a sample above its largest value: as stored', bytes('P5 2 1 15\n', [16, 255]), [16, 255]],
  ['P2 with comments right behind its numbers', 'P2\n2#c\n1#c\n9#c 8\n3#c\n4', [3, 4]],
  ['P5 with carriage returns', bytes('P5\r\n2 1\r\n255\n', [7, 8]), [7, 8]],
  ['P5 with another image behind it', bytes('P5 1 1 255\n', [7, ...Buffer.from('P5 1 1 255\n'), 8]), [7]],
  ['P5 with a largest value of 15: samples as stored', bytes('P5 2 1 15\n', [3, 15]), [3, 15]],
  // Luma by hand: (19595 * 200 + 38470 * 100 + 7471 * 50 + 32768) >> 16 = 124.
  ['P6', bytes('P6 2 1 255\n', [200, 100, 50, 9, 9, 9]), [124, 9]],
  ['P2', 'P2\n3 2\n255\n1 2 3\n4 5\n255\n', [1, 2, 3, 4, 5, 255]],
  ['P2 with comments and no line end', 'P2#c\n2 #c\n2 99 1 2 # 3 4\n#\n3\r\n\t4', [1, 2, 3, 4]],
  ['P2 with more behind it', 'P2 1 1 9 7 and so on', [7]],
  ['P3', 'P3 2 1 255 200 100 50 9 9 9\n', [124, 9]],
];

for (const [what, content, luma] of forms) {
  test(what, async (t) => assert.deepEqual([...(await decodeWhole(await file(t, content)))], luma));
}

test('the colours of P6 and P3 are three planes, and gray is three times the same', async (t) => {
  const colours: [content: string | Uint8Array, planes: number[]][] = [
    [bytes('P6 2 1 255\n', [200, 100, 50, 9, 8, 7]), [200, 9, 100, 8, 50, 7]],
    ['P3 1 2 255 200 100 50 9 8 7', [200, 9, 100, 8, 50, 7]],
    [bytes('P5 2 1 15\n', [3, 15]), [3, 15, 3, 15, 3, 15]],
    ['P2 2 1 9 4 5', [4, 5, 4, 5, 4, 5]],
  ];
  for (const [content, planes] of colours) {
    assert.deepEqual([...(await decodeWhole(await file(t, content), 'rgb'))], planes);
  }
});

const refused: [content: string | Uint8Array, message: RegExp][] = [
  ['P5 3 2', /^The header of the P5 file has no height$/],
  ['P5\n', /^The header of the P5 file has no width$/],
  ['P5 3 -2 255\n', /^The header of the P5 file has no height$/],
  ['P2 1 1 1e2 7', /^The header of the P2 file has no largest value$/],
  ['P5 3#\n2 255#', /^The header of the P5 file has no largest value$/],
  ['P5 0 4 255\n', /^The image has no pixels: 0x4$/],
  ['P5 1 1 0\n\0', /^The header of the P5 file has 0 as its largest value$/],
  ['P5 1 1 65536\n\0\0', /^The largest value in the header is 65536: at most 65535 is allowed$/],
  ['P5 2 1 256\n\0\x01\x01', /^The file is truncated: 2x1 pixels take 4 bytes but it holds 3$/],
  ['P5 3 2 255\n12345', /^The file is truncated: 3x2 pixels take 6 bytes but it holds 5$/],
  ['P6 100000 100000 255\n', /^The file is truncated: /],
  ['P2 2 2 255 1 2 3', /^The file is truncated: row 1 of 2 ends after 1 of 2 values$/],
  ['P2 2 1 9 1 10', /^The value 10 in row 0 is above 9, the largest that the header allows$/],
  ['P3 1 1 255 1 -2 3', /^Expected a number at byte 13 but found byte 0x2d$/],
  ['P2 60000 60000 255 1', /^60000x60000 is 3600000000 pixels, more than /],
  ['P4 8 1 \0', /^PBM is not supported: /],
  ['P7\nWIDTH 1', /^PAM is not supported: /],
  ['P5-like text', /^Not an image: the file starts with the text "P5-like text"$/],
];

for (const [content, message] of refused) {
  test(`${JSON.stringify(content)} is refused: ${message.source}`, async (t) => {
    const uri = await file(t, content);
    await assert.rejects(decodeWhole(uri), { name: 'InputError', stage: 'decode', message });
  });
}

test('plain and binary files of any size decode to the same, and so does any region of the binary one', async (t) => {
  const size = fc.integer({ min: 1, max: 40 });
  const image = fc.tuple(
    size,
    size,
    fc.constantFrom(1, 3),
    fc.constantFrom<Channels>('gray', 'rgb'),
    fc.nat(1e9),
    fc.constantFrom(255, 65_535),
  );
  const property = fc.asyncProperty(image, async ([width, height, channels, output, seed, maxval]) => {
    const type = maxval === 255 ? 'u8' : 'u16';
    const samples = Array.from({ length: width * height * channels }, (_, i) => (seed + i * 7919) % (maxval + 1));
    const header = `${width} ${height} ${maxval}\n`;
    const plain = await file(t, `P${channels === 1 ? 2 : 3} ${header}${samples.join(' ')}`);
    const binary = await openImage(
      await file(
        t,
        bytes(
          `P${channels === 1 ? 5 : 6} ${header}`,
          type === 'u8' ? samples : samples.flatMap((v) => [v >> 8, v & 255]),
        ),
      ),
    );
    const whole = planes(width, height, output, noGaps, type);
    await binary.decode({ x: 0, y: 0, width, height }, whole);
    assert.deepEqual(whole.bytes, await decodeWhole(plain, output));
    const pixel = (plane: number, x: number, y: number): number => {
      const [r, g, b] = [0, 1, 2].map((c) => samples[(y * width + x) * channels + (c % channels)]!);
      return output === 'gray' ? lumaOf(r!, g!, b!) : [r!, g!, b!][plane]!;
    };
    assertPlanes(whole, width, height, pixel, undefined, type);
    const [x, y] = [seed % width, seed % height];
    const region = { x, y, width: 1 + (seed % (width - x)), height: 1 + (seed % (height - y)) };
    const gaps = { before: 2 * (seed % 5), padding: 2 * (seed % 4), between: 2 * (seed % 3) };
    const target = planes(region.width, region.height, output, gaps, type);
    await binary.decode(region, target);
    const inRegion = (plane: number, column: number, row: number) => pixel(plane, x + column, y + row);
    assertPlanes(target, region.width, region.height, inRegion, undefined, type);
    await binary.close();
  });
  await fc.assert(property, { numRuns: repeated(30, 200) });
});

test('files of several pieces decode whole: 1.5 MB of samples, binary and plain', async (t) => {
  const [width, height] = [701, 709];
  const samples = Uint8Array.from({ length: width * height * 3 }, (_, i) => (i * i) % 251);
  const binary = await decodeWhole(await file(t, bytes(`P6 ${width} ${height} 255\n`, samples)));
  const plain = await decodeWhole(await file(t, `P3 ${width} ${height} 255\n${samples.join('\n')}`));
  assert.equal(Buffer.compare(binary, plain), 0);
  const [r, g, b] = samples.slice(-3);
  assert.equal(binary.at(-1), lumaOf(r!, g!, b!));
});

test('a region of thousands of rows decodes to its pixels, of 8 and of 16 bits', async (t) => {
  const [width, height] = [50, 3000];
  const region = { x: 3, y: 7, width: 40, height: 2900 };
  for (const [max, type] of [
    [255, 'u8'],
    [65535, 'u16'],
  ] as const) {
    const value = (x: number, y: number) => (x * 7 + y * 13) % (max + 1);
    const samples = Array.from({ length: width * height }, (_, i) => value(i % width, Math.floor(i / width)));
    const stored = max > 255 ? samples.flatMap((v) => [v >> 8, v & 255]) : samples;
    const image = await openImage(await file(t, bytes(`P5 ${width} ${height} ${max}\n`, stored)));
    const target = planes(region.width, region.height, 'gray', { before: 2, padding: 6, between: 0 }, type);
    await image.decode(region, target);
    const pixel = (_: number, x: number, y: number) => value(region.x + x, region.y + y);
    assertPlanes(target, region.width, region.height, pixel, undefined, type);
    await image.close();
  }
});

test('a region of a binary file costs the bytes of its own rows, not of the far longer rows of the image', async (t) => {
  const image = await openImage(await file(t, bytes('P5 20000 200 255\n', Buffer.alloc(4_000_000, 7))));
  const before = image.inputBytes;
  await image.decode({ x: 10, y: 10, width: 100, height: 50 }, planes(100, 50, 'gray'));
  assert.equal(image.inputBytes - before, 5000);
  await image.close();
});

test('a file that shrinks while it is read is refused', async (t) => {
  const uri = await file(t, bytes('P5 2000 2000 255\n', Buffer.alloc(4_000_000, 7)));
  const image = await openImage(uri);
  await truncate(fileURLToPath(uri), 3_000_000);
  await assert.rejects(decodeOpen(image), {
    message: 'The file is truncated: it ends at byte 3000000, inside the image',
  });
  await image.close();
});
