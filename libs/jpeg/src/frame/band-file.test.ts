import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { decodeSoundJpeg } from '@halogrid/imaging';
import { repeated } from '@halogrid/testing';
import fc from 'fast-check';
import { decodeOnCores } from '../testing/cores.ts';
import { madeUpJpegs } from '../testing/made-up-arbitrary.ts';
import { mutate } from '../testing/mutate.ts';
import { writeJpeg } from '../testing/write-jpeg.ts';
import { bandFile } from './band-file.ts';
import { bandOf, rowsOfStretches } from './bands.ts';
import type { JpegFrame } from './jpeg-frame.ts';
import { readJpegFrame } from './read-frame.ts';
import { findStretches, type JpegStretches, StretchScan } from './stretches.ts';

const fixture = readFileSync(new URL('../../../imaging/fixtures/restart.jpg', import.meta.url));

interface Read {
  jpeg: Uint8Array;
  frame: JpegFrame;
  stretches: JpegStretches;
}

function read(jpeg: Uint8Array): Read {
  const frame = readJpegFrame(jpeg);
  assert.ok(typeof frame !== 'string');
  const stretches = findStretches(jpeg, frame);
  assert.ok(typeof stretches !== 'string');
  return { jpeg, frame, stretches };
}

/** The result of libjpeg-turbo for some rows alone. */
async function decodeBand({ jpeg, frame, stretches }: Read, y: number, rows: number, channels: 'gray' | 'rgb') {
  const band = bandOf(frame, stretches, y, rows);
  const file = bandFile(jpeg.subarray(0, frame.dataStart), jpeg.subarray(band.from, band.to), band, stretches);
  return { height: band.frame.height, planes: await decodeOnCores(file, band.frame, channels) };
}

const restarted = madeUpJpegs.map((one) => ({
  ...one,
  restartMcus: one.restartMcus === 0 ? 5 : one.restartMcus,
  // Limited so that all decoders are in range.
  bits: Math.min(one.bits, 4),
  quantiser: Math.min(one.quantiser, 4),
}));
const numRuns = repeated(60, 400);

test('libjpeg-turbo decodes bands of any height, as files, to the same rows as the whole file', async () => {
  const property = fc.asyncProperty(restarted, fc.integer({ min: 1, max: 3 }), async (one, units) => {
    const whole = read(writeJpeg(one));
    const { frame } = whole;
    const expected = await decodeOnCores(whole.jpeg, frame);
    assert.ok(expected);
    const rows = units * rowsOfStretches(frame);
    for (let y = 0; y < frame.height; y += rows) {
      const { height, planes } = await decodeBand(whole, y, rows, 'gray');
      assert.ok(Buffer.from(planes!).equals(expected.subarray(y * frame.width, (y + height) * frame.width)));
    }
  });
  await fc.assert(property, { numRuns });
});

test("the colours of a band with rows above and below equal the whole file's colours", async () => {
  const property = fc.asyncProperty(restarted, async (one) => {
    const whole = read(writeJpeg(one));
    const { width, height } = whole.frame;
    const expected = await decodeOnCores(whole.jpeg, whole.frame, 'rgb');
    // With some sampling factors libjpeg makes no colours.
    if (!expected) return;
    const rows = rowsOfStretches(whole.frame);
    for (let y = 0; y < height; y += rows) {
      const top = Math.max(0, y - rows);
      const band = await decodeBand(whole, top, y + 2 * rows - top, 'rgb');
      const inner = Math.min(rows, height - y);
      for (let plane = 0; plane < 3; plane++) {
        const own = (plane * band.height + y - top) * width;
        const at = (plane * height + y) * width;
        const found = Buffer.from(band.planes!.subarray(own, own + inner * width));
        assert.ok(found.equals(expected.subarray(at, at + inner * width)), `plane ${plane} from row ${y}`);
      }
    }
  });
  await fc.assert(property, { numRuns });
});

test('some band of a damaged file, with the rows below it, is not sound, or all decode like the whole file', async () => {
  const base = writeJpeg({
    width: 40,
    height: 90,
    samplings: [[1, 1]],
    restartMcus: 5,
    density: 10,
    bits: 3,
    quantiser: 3,
    sharesTables: false,
    seed: 3,
  });
  const seeds = repeated(200, 1500);
  let fine = 0;
  for (let seed = 1; seed <= seeds; seed++) {
    const jpeg = mutate(base, base, seed);
    const frame = readJpegFrame(jpeg);
    if (typeof frame === 'string') continue;
    const stretches = findStretches(jpeg, frame);
    if (typeof stretches === 'string') continue;
    const found = await decodeSoundBands({ jpeg, frame, stretches });
    if (!found) continue;
    const expected = await decodeOnCores(jpeg, frame);
    assert.ok(expected && found.equals(expected), `seed ${seed}`);
    fine++;
  }
  assert.ok(fine > 0 && fine < seeds, `${fine} are fine`);
});

/** The bands one after another, each decoded with as many rows below; undefined if libjpeg warns about one of them. */
async function decodeSoundBands({ jpeg, frame, stretches }: Read): Promise<Buffer | undefined> {
  const rows = rowsOfStretches(frame);
  const bands: Uint8Array[] = [];
  for (let y = 0; y < frame.height; y += rows) {
    const band = bandOf(frame, stretches, y, 2 * rows);
    const file = bandFile(jpeg.subarray(0, frame.dataStart), jpeg.subarray(band.from, band.to), band, stretches);
    const { width, height } = band.frame;
    const bytes = new Uint8Array(width * height);
    const to = { bytes, offset: 0, stride: width, channels: 'gray' as const, planeBytes: bytes.length };
    if (!(await decodeSoundJpeg(Buffer.from(file), to).catch(() => false))) return undefined;
    bands.push(bytes.subarray(0, width * Math.min(rows, frame.height - y)));
  }
  return Buffer.concat(bands);
}

test('a band that begins within a stretch cannot become a file', () => {
  const { jpeg, frame, stretches } = read(fixture);
  const band = bandOf(frame, stretches, 0, 8);
  const skipping = { ...band, frame: { ...band.frame, skippedMcus: 1 } };
  assert.throws(() => bandFile(jpeg.subarray(0, frame.dataStart), jpeg, skipping, stretches), RangeError);
});

test('stretches are the same for every way to cut the file into pieces', () => {
  const property = fc.property(restarted, fc.array(fc.integer({ min: 0, max: 40 })), (one, cuts) => {
    const { jpeg, frame, stretches } = read(writeJpeg(one));
    const scan = new StretchScan(frame);
    let at = frame.dataStart;
    for (const bytes of [...cuts, jpeg.length]) {
      scan.take(jpeg.subarray(at, at + bytes));
      at += bytes;
    }
    assert.ok(scan.isDone);
    assert.deepEqual(scan.end(), stretches);
  });
  fc.assert(property, { numRuns });
});
