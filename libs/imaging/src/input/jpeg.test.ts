import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeJpeg, readJpegHeader } from './jpeg.ts';
import { expectedFixtures, fixtureBytes, sha256 } from './testing.ts';

const { width, height } = expectedFixtures['420.jpg']!;
const endMarker = Buffer.from([0xff, 0xd9]);
const quantisationTable = Buffer.from([0xff, 0xdb]);

async function decode(jpeg: Uint8Array): Promise<string> {
  const size = readJpegHeader(jpeg);
  const target = new Uint8Array(size.width * size.height);
  await decodeJpeg(jpeg, target, 0, size.width);
  return sha256(target);
}

test('rows go where offset and stride say, into plain and shared memory, and nothing else changes', async () => {
  const [offset, stride] = [5, width + 3];
  for (const memory of [new ArrayBuffer(offset + height * stride), new SharedArrayBuffer(offset + height * stride)]) {
    const target = new Uint8Array(memory).fill(77);
    await decodeJpeg(fixtureBytes('420.jpg'), target, offset, stride);
    const pixels = new Uint8Array(width * height);
    for (let row = 0; row < height; row++) {
      pixels.set(target.subarray(offset + row * stride, offset + row * stride + width), row * width);
      const padding = target.subarray(offset + row * stride + width, offset + (row + 1) * stride);
      assert.ok(padding.every((value) => value === 77));
    }
    assert.ok(target.subarray(0, offset).every((value) => value === 77));
    assert.equal(sha256(pixels), expectedFixtures['420.jpg']!.sha256);
  }
});

test('many decodes at once, good and bad ones, do not disturb each other', async () => {
  const names = Object.keys(expectedFixtures).filter((name) => name.endsWith('.jpg'));
  const cut = fixtureBytes('420.jpg').subarray(0, 2000);
  const jobs = Array.from({ length: 300 }, async (_, i) => {
    const name = names[i % names.length]!;
    if (i % 7 === 0) await assert.rejects(decode(cut), { name: 'InputError' });
    else assert.equal(await decode(fixtureBytes(name)), expectedFixtures[name]!.sha256, name);
  });
  await Promise.all(jobs);
});

test('a JPEG that is cut off is refused, wherever it is cut', async () => {
  for (const name of ['420.jpg', 'progressive.jpg', 'restart.jpg', 'arithmetic.jpg', 'gray.jpg', '1x1.jpg']) {
    const jpeg = fixtureBytes(name);
    for (let length = jpeg.length - 2; length > 2; length -= 1 + (length >> 5)) {
      await assert.rejects(
        decode(jpeg.subarray(0, length)),
        { name: 'InputError', stage: 'decode' },
        `${name} ${length}`,
      );
    }
  }
});

test('bytes after the end marker are ignored', async () => {
  const jpeg = Buffer.concat([fixtureBytes('420.jpg'), fixtureBytes('gray.jpg')]);
  assert.equal(await decode(jpeg), expectedFixtures['420.jpg']!.sha256);
});

test('padding before the end marker is ignored up to 64 bytes, and more is damage', async () => {
  const jpeg = fixtureBytes('420.jpg');
  const padded = (bytes: number) => Buffer.concat([jpeg.subarray(0, -2), Buffer.alloc(bytes), endMarker]);
  for (const bytes of [1, 4, 32, 60]) assert.equal(await decode(padded(bytes)), expectedFixtures['420.jpg']!.sha256);
  for (const bytes of [100, 5000]) await assert.rejects(decode(padded(bytes)), /damaged or cut off/);
});

test('what libjpeg warns of is refused', async () => {
  const jpeg = fixtureBytes('restart.jpg');
  const lost = jpeg.indexOf(Buffer.from([0xff, 0xd3]));
  const next = jpeg.indexOf(Buffer.from([0xff, 0xd4]));
  await assert.rejects(decode(Buffer.concat([jpeg.subarray(0, lost), jpeg.subarray(next)])), { stage: 'decode' });
  const table = jpeg.indexOf(quantisationTable);
  const dirty = Buffer.concat([jpeg.subarray(0, table), Buffer.from('dirt'), jpeg.subarray(table)]);
  await assert.rejects(
    decode(dirty),
    /^InputError: The header of the JPEG is damaged or cut off: Corrupt JPEG data: 4 /,
  );
});

test('a JFIF version that libjpeg does not know is no reason to refuse', async () => {
  const jpeg = fixtureBytes('420.jpg');
  assert.equal(jpeg.toString('latin1', 6, 10), 'JFIF');
  jpeg[11] = 2;
  assert.equal(await decode(jpeg), expectedFixtures['420.jpg']!.sha256);
});

test('tables that a file lacks are not taken from the image before', async () => {
  const jpeg = fixtureBytes('gray.jpg');
  const table = jpeg.indexOf(quantisationTable);
  const end = table + 2 + jpeg.readUInt16BE(table + 2);
  const withoutTable = Buffer.concat([jpeg.subarray(0, table), jpeg.subarray(end)]);
  await decode(jpeg);
  await assert.rejects(decode(withoutTable), { stage: 'decode' });
});

test('12-bit samples are refused', () => {
  const jpeg = fixtureBytes('gray.jpg');
  const frame = jpeg.indexOf(Buffer.from([0xff, 0xc0]));
  jpeg[frame + 1] = 0xc1;
  jpeg[frame + 4] = 12;
  assert.throws(() => readJpegHeader(jpeg), { message: '12-bit samples are not supported yet: 8-bit JPEG is' });
});

test('a target that is too small is refused before native code writes to it', async () => {
  const jpeg = fixtureBytes('420.jpg');
  await assert.rejects(decodeJpeg(jpeg, new Uint8Array(width * height - 1), 0, width), RangeError);
  await assert.rejects(decodeJpeg(jpeg, new Uint8Array(width * height), -1, width), RangeError);
  await assert.rejects(decodeJpeg(jpeg, new Uint8Array(width * height), 0, Number.NaN), RangeError);
});
