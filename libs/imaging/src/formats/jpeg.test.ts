import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertPlanes, type Channels, expectedFixtures, fixtureBytes, planes, sha256 } from '../testing/images.ts';
import { decodeJpeg, isOfOneScan } from './jpeg.ts';
import { readJpegHeader } from './jpeg-header.ts';

const { width, height } = expectedFixtures['420.jpg']!;
const endMarker = Buffer.from([0xff, 0xd9]);
const quantisationTable = Buffer.from([0xff, 0xdb]);

async function decode(jpeg: Uint8Array, channels: Channels = 'gray'): Promise<string> {
  const size = readJpegHeader(jpeg);
  const target = planes(size.width, size.height, channels);
  await decodeJpeg(jpeg, target);
  return sha256(target.bytes);
}

test('rows and planes go where the target says, into plain and shared memory, and nothing else changes', async () => {
  for (const channels of ['gray', 'rgb'] as const) {
    const expected = planes(width, height, channels);
    await decodeJpeg(fixtureBytes('420.jpg'), expected);
    const target = planes(width, height, channels, { before: 5, padding: 3, between: 7 });
    const shared = { ...target, bytes: new Uint8Array(new SharedArrayBuffer(target.bytes.length)).fill(77) };
    for (const to of [target, shared]) {
      await decodeJpeg(fixtureBytes('420.jpg'), to);
      assertPlanes(to, width, height, (plane, x, y) => expected.bytes[(plane * height + y) * width + x]!);
    }
  }
});

test('many decodes at once, good and bad ones, do not disturb each other', async () => {
  const names = Object.keys(expectedFixtures).filter((name) => name.endsWith('.jpg'));
  const cut = fixtureBytes('420.jpg').subarray(0, 2000);
  const jobs = Array.from({ length: 300 }, async (_, i) => {
    const name = names[i % names.length]!;
    const [channels, digest] = i % 2 === 0 ? (['gray', 'sha256'] as const) : (['rgb', 'rgbSha256'] as const);
    if (i % 7 === 0) await assert.rejects(decode(cut, channels), { name: 'InputError' });
    else assert.equal(await decode(fixtureBytes(name), channels), expectedFixtures[name]![digest], name);
  });
  await Promise.all(jobs);
});

test('a JPEG that is cut off is refused, wherever it is cut', async () => {
  for (const name of ['420.jpg', 'progressive.jpg', 'restart.jpg', 'arithmetic.jpg', 'gray.jpg', '1x1.jpg']) {
    const jpeg = fixtureBytes(name);
    for (let length = jpeg.length - 2; length > 2; length -= 1 + (length >> 5)) {
      for (const channels of ['gray', 'rgb'] as const) {
        const decoded = decode(jpeg.subarray(0, length), channels);
        await assert.rejects(decoded, { name: 'InputError', stage: 'decode' }, `${name} ${length} ${channels}`);
      }
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
  const { sha256: luma, rgbSha256 } = expectedFixtures['420.jpg']!;
  for (const [channels, digest] of [
    ['gray', luma],
    ['rgb', rgbSha256],
  ] as const) {
    for (const bytes of [1, 4, 32, 60]) assert.equal(await decode(padded(bytes), channels), digest);
    for (const bytes of [100, 5000]) await assert.rejects(decode(padded(bytes), channels), /damaged or cut off/);
  }
});

test('what is wrong behind the last row, in front of the end marker, takes nothing from the picture', async () => {
  const jpeg = fixtureBytes('420.jpg');
  const { sha256 } = expectedFixtures['420.jpg']!;
  const dirty = Buffer.concat([jpeg.subarray(0, -2), Buffer.from('These bytes are no padding.'), endMarker]);
  assert.equal(await decode(dirty), sha256);
  const message = 'The JPEG is cut off: its end marker is missing';
  for (const cut of [2, 200]) await assert.rejects(decode(jpeg.subarray(0, -cut)), { message });
});

test('what libjpeg warns of before the last row is refused', async () => {
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
  for (const channels of ['gray', 'rgb'] as const) {
    const good = planes(width, height, channels);
    const wrong = [{ bytes: good.bytes.subarray(1) }, { offset: -1 }, { stride: Number.NaN }];
    for (const change of wrong) await assert.rejects(decodeJpeg(jpeg, { ...good, ...change }), RangeError);
  }
});

test('progressive JPEGs have several scans, and baseline ones of any kind have one', () => {
  for (const name of [
    '420.jpg',
    '440.jpg',
    'gray.jpg',
    'rgb.jpg',
    'cmyk.jpg',
    'arithmetic.jpg',
    'restart.jpg',
    '1x1.jpg',
  ]) {
    assert.equal(isOfOneScan(fixtureBytes(name)), true, name);
  }
  assert.equal(isOfOneScan(fixtureBytes('progressive.jpg')), false);
});

test('a baseline JPEG whose components come one after another has several scans', () => {
  const jpeg = fixtureBytes('420.jpg');
  const scan = jpeg.indexOf(Buffer.from([0xff, 0xda]));
  jpeg[scan + 4] = 1;
  assert.equal(isOfOneScan(jpeg), false);
});

test('what ends before its first scan has none', () => {
  const jpeg = fixtureBytes('420.jpg');
  const scan = jpeg.indexOf(Buffer.from([0xff, 0xda]));
  for (const end of [0, 1, 2, 20, scan]) assert.equal(isOfOneScan(jpeg.subarray(0, end)), false, String(end));
});
