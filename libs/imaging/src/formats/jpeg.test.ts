import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertPlanes, type Channels, expectedFixtures, fixtureBytes, planes, sha256 } from '../testing/images.ts';
import { decodeJpeg, isOfOneScan } from './jpeg.ts';
import { readJpeg } from './jpeg-header.ts';
import { JpegsNow } from './jpeg-now.ts';

const { width, height } = expectedFixtures['420.jpg']!;
const quantisationTable = Buffer.from([0xff, 0xdb]);

async function decode(jpeg: Uint8Array, channels: Channels = 'gray'): Promise<string> {
  const size = readJpeg(jpeg);
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

test('a JPEG without its end marker is cut off', async () => {
  const jpeg = fixtureBytes('420.jpg');
  const message = 'The JPEG is cut off: its end marker is missing';
  for (const cut of [2, 200]) await assert.rejects(decode(jpeg.subarray(0, -cut)), { message });
});

test('a JPEG whose samples libjpeg cannot turn into colours gives gray, and is not called damaged', async () => {
  const jpeg = fixtureBytes('sampling-3-to-2.jpg');
  // The hash of the output of djpeg -grayscale.
  assert.equal(await decode(jpeg), '6f2e0a41ec75032e5023f8536c4fad60681e3674071fdd9c8c5f9ceffd66e752');
  await assert.rejects(decode(jpeg, 'rgb'), {
    message:
      'The JPEG has components with 2 samples for 3 of others across, which libjpeg does not make colours of: it does where one sample stands for 1, 2, 3 or 4, and it makes gray of YCbCr',
  });
  assert.throws(() => new JpegsNow().decode(jpeg, 3, () => {}), /2 samples for 3 of others across/);
});

test('a height that follows the pixels is not supported, and no damage', async () => {
  const jpeg = fixtureBytes('420.jpg');
  jpeg.writeUInt16BE(0, jpeg.indexOf(Buffer.from([0xff, 0xc0])) + 5);
  const message = 'The JPEG states its height behind its pixels (DNL), which is not supported: one in its header is';
  assert.throws(() => readJpeg(jpeg), { name: 'InputError', message });
});

test('a JPEG with a JFIF version that libjpeg does not know is not refused', async () => {
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
  assert.throws(() => readJpeg(jpeg), { message: '12-bit samples are not supported yet: 8-bit JPEG is' });
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

test('a JPEG that ends before its first scan has none', () => {
  const jpeg = fixtureBytes('420.jpg');
  const scan = jpeg.indexOf(Buffer.from([0xff, 0xda]));
  for (const end of [0, 1, 2, 20, scan]) assert.equal(isOfOneScan(jpeg.subarray(0, end)), false, String(end));
});
