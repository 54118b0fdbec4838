import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { temporaryFolder } from '@halogrid/sources/testing-files';
import { repeated } from '@halogrid/testing';
import fc from 'fast-check';
import { type MendedJpeg, mendJpeg } from '../jpeg/mend-jpeg.ts';
import { nextMarker } from '../jpeg/next-marker.ts';
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
import { decodeJpeg } from './jpeg.ts';
import { readJpeg } from './jpeg-header.ts';
import { JpegsNow } from './jpeg-now.ts';

const expected: typeof expectedFixtures = JSON.parse(fixtureBytes('../mended-jpegs/expected.json').toString());

const [segments, restarts, behind] = ['between segments', 'in front of restart markers', 'behind the last pixel'];

/** Where each file has bytes that hold no pixel. */
const places: Record<string, readonly string[]> = {
  'comment-longer.jpg': [segments],
  'comment-shorter.jpg': [segments],
  'application-longer.jpg': [segments],
  'before-restarts.jpg': [restarts],
  'before-restarts-mjpeg.jpg': [restarts],
  'zeros-behind.jpg': [behind],
  'text-behind.jpg': [behind],
  'zeros-behind-progressive.jpg': [behind],
  'between-scans.jpg': [segments, behind],
  'all.jpg': [segments, restarts, behind],
  'two-starts.jpg': [segments],
};

const sentence = (at: readonly string[]): string =>
  `JPEG bytes that hold no pixel were passed over ${at.join(' and ')}`;

async function decode(jpeg: Uint8Array, channels: Channels): Promise<{ digest: string; mended: string | undefined }> {
  const { width, height } = readJpeg(Buffer.from(jpeg));
  const target = planes(width, height, channels);
  const mended = await decodeJpeg(Buffer.from(jpeg), target);
  return { digest: sha256(target.bytes), mended };
}

test('bytes that hold no pixel are removed and reported, and the pixels equal those from djpeg', async (t) => {
  assert.deepEqual(Object.keys(places).toSorted(), Object.keys(expected).toSorted());
  const folder = await temporaryFolder(t);
  for (const [name, { width, height, sha256: luma, rgbSha256 }] of Object.entries(expected)) {
    const mended = sentence(places[name]!);
    for (const [channels, digest] of [
      ['gray', luma],
      ['rgb', rgbSha256],
    ] as const) {
      assert.deepEqual(await decode(fixtureBytes(`../mended-jpegs/${name}`), channels), { digest, mended }, name);
      const now = new JpegsNow().decode(fixtureBytes(`../mended-jpegs/${name}`), channels === 'gray' ? 1 : 3, () => {});
      assert.deepEqual([now.width, now.height, now.mended], [width, height, mended], name);
      if (channels === 'gray') assert.equal(sha256(now.bytes), digest, name);
      // A file of several scans is not decoded in parts.
      if (/progressive|scans/.test(name)) continue;
      const image = await openImage(fixtureUri(`../mended-jpegs/${name}`), { maxWholePixels: 97 * 20 });
      const path = join(folder, `${name}-${channels}`);
      await image.copy!.write(path, channels);
      assert.equal(sha256(await decodeWhole(pathToFileURL(path).href, channels)), digest, name);
      assert.equal(image.mended, mended, name);
      await image.close();
    }
  }
});

test('an image says what was left out once it is decoded, and a good one says nothing', async () => {
  for (const [name, mended] of [
    ['../mended-jpegs/before-restarts.jpg', sentence([restarts])],
    ['restart.jpg', undefined],
  ] as const) {
    const image = await openImage(fixtureUri(name));
    await decodeOpen(image);
    assert.equal(image.mended, mended);
    await image.close();
  }
});

function mendedOf(jpeg: Uint8Array): MendedJpeg | undefined {
  const mending = mendJpeg(jpeg);
  let step = mending.next();
  while (!step.done) step = mending.next();
  return step.value;
}

/** The places in a baseline JPEG where stray bytes may be. */
function placesOf(jpeg: Buffer): { segments: number[]; restarts: number[]; behind: number } {
  const places = { segments: [] as number[], restarts: [] as number[], behind: jpeg.length - 2 };
  let at = 2;
  for (; jpeg[at + 1] !== 0xda; at += 2 + jpeg.readUInt16BE(at + 2)) places.segments.push(at);
  places.segments.push(at);
  for (let found = nextMarker(jpeg, at + 2)!; found.code !== 0xd9; found = nextMarker(jpeg, found.end)!) {
    places.restarts.push(found.from);
  }
  return places;
}

test('what is left out is what was put in, wherever that is allowed, and nothing else', () => {
  // FF 00 is not a marker, nor is FF before a code that does not occur in JPEGs.
  const text = fc.oneof(
    { weight: 9, arbitrary: fc.integer({ min: 0, max: 0xfe }).map((byte) => [byte]) },
    fc.integer({ min: 0, max: 0xbf }).map((byte) => [0xff, byte]),
  );
  const bytes = (maxLength: number) =>
    fc.array(text, { minLength: 1, maxLength: maxLength / 2 }).map((added) => Buffer.from(added.flat()));
  const gap = fc.record({ place: fc.nat(), added: bytes(40) });
  for (const name of ['restart.jpg', '420.jpg', 'gray.jpg', '17x31.jpg']) {
    const jpeg = fixtureBytes(name);
    const all = placesOf(jpeg);
    const gaps = fc.record({
      segments: fc.array(gap, { maxLength: 3 }),
      restarts: fc.array(gap, { maxLength: all.restarts.length === 0 ? 0 : 8 }),
      behind: fc.array(bytes(64), { maxLength: 1 }),
    });
    const property = fc.property(gaps, (put) => {
      const inserted = [
        ...put.segments.map(({ place, added }) => ({ at: all.segments[place % all.segments.length]!, added })),
        ...put.restarts.map(({ place, added }) => ({ at: all.restarts[place % all.restarts.length]!, added })),
        ...put.behind.map((added) => ({ at: all.behind, added })),
      ].sort((a, b) => b.at - a.at);
      const dirty = inserted.reduce(
        (file, { at, added }) => Buffer.concat([file.subarray(0, at), added, file.subarray(at)]),
        jpeg,
      );
      const found = mendedOf(dirty);
      const at = [
        ...(put.segments.length > 0 ? [segments] : []),
        ...(put.restarts.length > 0 ? [restarts] : []),
        ...(put.behind.length > 0 ? [behind] : []),
      ];
      if (at.length === 0) return assert.equal(found, undefined);
      assert.equal(Buffer.compare(found!.bytes, jpeg), 0);
      assert.equal(found!.mended, sentence(at));
    });
    fc.assert(property, { numRuns: repeated(30, 300) });
  }
});

test('a single byte is told in front of any restart marker, the last one as well', async () => {
  const jpeg = fixtureBytes('restart.jpg');
  for (const at of placesOf(jpeg).restarts) {
    const dirty = Buffer.concat([jpeg.subarray(0, at), Buffer.from([0x5a]), jpeg.subarray(at)]);
    const found = { digest: expectedFixtures['restart.jpg']!.sha256, mended: sentence([restarts]) };
    assert.deepEqual(await decode(dirty, 'gray'), found, `${at}`);
    assert.equal(new JpegsNow().decode(dirty, 1, () => {}).mended, found.mended);
  }
});

test('padding behind the last pixel may be of any length, of zeros or of anything', async () => {
  const jpeg = fixtureBytes('420.jpg');
  for (const length of [1, 4, 60, 64, 65, 193, 200, 600, 5000, 70_000]) {
    for (const padding of [Buffer.alloc(length), Buffer.alloc(length, 0xff), Buffer.alloc(length, 'dhav 1234 ')]) {
      const padded = Buffer.concat([jpeg.subarray(0, -2), padding, jpeg.subarray(-2)]);
      for (const channels of ['gray', 'rgb'] as const) {
        const digest = expectedFixtures['420.jpg']![channels === 'gray' ? 'sha256' : 'rgbSha256'];
        assert.equal((await decode(padded, channels)).digest, digest, `${length} ${padding[0]} ${channels}`);
      }
    }
  }
});

test('a file without its end marker is whole if something else follows its last pixel', async () => {
  const jpeg = fixtureBytes('420.jpg');
  const found = await decode(Buffer.concat([jpeg.subarray(0, -2), Buffer.from('SEFH trailer')]), 'gray');
  assert.deepEqual(found, {
    digest: expectedFixtures['420.jpg']!.sha256,
    mended: sentence([behind]),
  });
});

/** Damage that loses a part of the picture. */
const lost: Record<string, (jpeg: Buffer, mark: (number: number) => number) => Buffer> = {
  'a restart marker that is missing': (jpeg, mark) => without(jpeg, mark(3), mark(3) + 2),
  'the data between two restart markers': (jpeg, mark) => without(jpeg, mark(3), mark(4)),
  'a restart marker that comes twice': (jpeg, mark) => with_(jpeg, mark(3), jpeg.subarray(mark(3), mark(3) + 2)),
  'another restart marker than is due': (jpeg, mark) => with_(jpeg, mark(3), Buffer.from([0xff, 0xd6])),
  'the end of the data in front of a restart marker': (jpeg, mark) => without(jpeg, mark(2) - 8, mark(2)),
  'eight restart markers and what is between them': (jpeg, mark) =>
    without(jpeg, mark(1), jpeg.indexOf(two(0xd1), mark(1) + 2)),
  'codes that there are not': (jpeg, mark) => with_(jpeg, mark(2) - 20, Buffer.alloc(12, Buffer.from([0xff, 0]))),
  'the end': (jpeg, mark) => Buffer.concat([jpeg.subarray(0, mark(4) + 10), jpeg.subarray(-2)]),
  'rows that the header does not know': (jpeg) => withHeight(jpeg, 40),
  'every other block in front of a restart marker': (jpeg) => withInterval(withHeight(jpeg, 32), 1),
  'rows that the data does not have': (jpeg) => withHeight(jpeg, 90),
  'a Huffman table': (jpeg) => withoutSegment(jpeg, 0xc4),
  'what tells how colours are stored': (jpeg) => withoutSegment(jpeg, 0xe0),
  'a quantisation table': (jpeg) => withoutSegment(jpeg, 0xdb),
};

const two = (code: number): Buffer => Buffer.from([0xff, code]);
const without = (jpeg: Buffer, from: number, to: number): Buffer =>
  Buffer.concat([jpeg.subarray(0, from), jpeg.subarray(to)]);
const with_ = (jpeg: Buffer, at: number, bytes: Buffer): Buffer =>
  Buffer.concat([jpeg.subarray(0, at), bytes, jpeg.subarray(at)]);

function withHeight(jpeg: Buffer, height: number): Buffer {
  const changed = Buffer.from(jpeg);
  changed.writeUInt16BE(height, jpeg.indexOf(two(0xc0)) + 5);
  return changed;
}

/** MCUs between restart markers, as stated in the header. */
function withInterval(jpeg: Buffer, mcus: number): Buffer {
  const changed = Buffer.from(jpeg);
  changed.writeUInt16BE(mcus, jpeg.indexOf(two(0xdd)) + 4);
  return changed;
}

/** Damages the marker, so that it is not a marker any more. */
function withoutSegment(jpeg: Buffer, code: number): Buffer {
  const changed = Buffer.from(jpeg);
  changed[jpeg.indexOf(two(code))] = 0xfe;
  return changed;
}

test('a JPEG that lost a part is refused, also if it has bytes that hold no pixel', async () => {
  for (const [what, lose] of Object.entries(lost)) {
    for (const name of [
      'restart.jpg',
      '../mended-jpegs/before-restarts.jpg',
      '../mended-jpegs/all.jpg',
      '../mended-jpegs/text-behind.jpg',
    ]) {
      const jpeg = fixtureBytes(name);
      const scan = jpeg.indexOf(two(0xda));
      const damaged = lose(jpeg, (number) => jpeg.indexOf(two(0xd0 + number), scan));
      for (const channels of ['gray', 'rgb'] as const) {
        await assert.rejects(decode(damaged, channels), { name: 'InputError', stage: 'decode' }, `${what} of ${name}`);
      }
      if (what.startsWith('rows')) continue;
      assert.throws(() => new JpegsNow().decode(damaged, 1, () => {}), { name: 'InputError' }, `${what} of ${name}`);
    }
  }
  await assert.rejects(decode(withHeight(fixtureBytes('420.jpg'), 40), 'gray'), { name: 'InputError' });
});
