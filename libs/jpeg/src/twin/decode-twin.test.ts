import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { repeated } from '@halogrid/testing';
import fc from 'fast-check';
import sharp from 'sharp';
import type { JpegFrame } from '../frame/jpeg-frame.ts';
import { readJpegFrame } from '../frame/read-frame.ts';
import { isFine, status } from '../frame/status.ts';
import { decodeOnCores } from '../testing/cores.ts';
import { madeUpJpegs } from '../testing/made-up-arbitrary.ts';
import { mutate } from '../testing/mutate.ts';
import { type MadeUpJpeg, writeJpeg } from '../testing/write-jpeg.ts';
import { decodeTwin } from './decode-twin.ts';

const fixtures = fileURLToPath(new URL('../../../imaging/fixtures/', import.meta.url));
const fixture = (name: string): Buffer => readFileSync(fixtures + name);

const small: MadeUpJpeg = {
  width: 60,
  height: 44,
  restartMcus: 0,
  density: 10,
  bits: 3,
  quantiser: 4,
  sharesTables: false,
  seed: 7,
  samplings: [
    [2, 1],
    [1, 1],
    [1, 1],
  ],
};

function frameOf(jpeg: Uint8Array): JpegFrame {
  const frame = readJpegFrame(jpeg);
  if (typeof frame === 'string') assert.fail(frame);
  return frame;
}

/** Checks that the twin's result equals libjpeg-turbo's, or is in doubt. Returns the status. */
async function compare(jpeg: Uint8Array, name: string): Promise<number | undefined> {
  const frame = readJpegFrame(jpeg);
  if (typeof frame === 'string') return undefined;
  const twin = decodeTwin(jpeg, frame);
  if (!isFine(twin.status)) return twin.status;
  const expected = await decodeOnCores(jpeg, frame);
  assert.ok(expected, `${name}: cores refuse it`);
  assert.equal(Buffer.compare(twin.luma, expected), 0, `${name}: other pixels`);
  return twin.status;
}

test('files of other encoders decode as libjpeg-turbo decodes them', async () => {
  for (const path of globSync(`${fixtures}*.jpg`)) {
    const found = await compare(readFileSync(path), path);
    const isForCores = /(progressive|arithmetic|cmyk|rgb)\.jpg$/.test(path);
    assert.equal(found, isForCores ? undefined : status.complete, path);
  }
});

test('photographs of every quality and several samplings decode as libjpeg-turbo decodes them', async () => {
  const photograph = fileURLToPath(new URL('../../../kernels/oracle/images/astronaut.png', import.meta.url));
  const part = sharp(photograph).extract({ left: 180, top: 60, width: 83, height: 61 });
  const pixels = await part.raw().toBuffer({ resolveWithObject: true });
  for (let quality = 1; quality <= 100; quality++) {
    const subsampled = quality % 2 === 0 ? '4:2:0' : '4:4:4';
    const jpeg = await sharp(pixels.data, { raw: pixels.info })
      .toColourspace(quality % 5 === 0 ? 'b-w' : 'srgb')
      .jpeg({ quality, chromaSubsampling: subsampled, optimiseCoding: quality % 3 === 0 })
      .toBuffer();
    assert.equal(await compare(jpeg, `quality ${quality}`), status.complete);
  }
});

test('images of random coefficients, samplings, tables and restart intervals decode as libjpeg-turbo decodes them', async () => {
  let fine = 0;
  const count = repeated(80, 500);
  await fc.assert(
    fc.asyncProperty(madeUpJpegs, async (made) => {
      const found = await compare(writeJpeg(made), JSON.stringify(made));
      // Large coefficients exceed the range of pixels. Guesses do not fall into step in blocks without an end.
      const isExpected = found === status.complete || (found! & (status.outOfRange | status.unsettled)) !== 0;
      assert.ok(isExpected, `${found} of ${JSON.stringify(made)}`);
      if (found === status.complete) fine++;
    }),
    { numRuns: count },
  );
  assert.ok(fine > count / 5, `${fine} of ${count} are in range`);
});

test('damaged files are in doubt, or decode as libjpeg-turbo decodes them', async () => {
  const files = ['420.jpg', '422.jpg', '444.jpg', 'gray.jpg', 'restart.jpg'].map(fixture);
  files.push(writeJpeg(small), writeJpeg({ ...small, restartMcus: 3 }));
  const found = new Map<number | undefined, number>();
  for (let seed = 1; seed <= repeated(250, 2000); seed++) {
    const jpeg = mutate(files[seed % files.length]!, files[(3 * seed) % files.length]!, seed);
    const outcome = await compare(jpeg, `seed ${seed}`);
    const key = outcome !== undefined && isFine(outcome) ? status.complete : outcome;
    found.set(key, (found.get(key) ?? 0) + 1);
  }
  // The seeds cover all outcomes: fine in spite of the damage, refused by the header, in doubt for several reasons.
  assert.ok(found.has(undefined) && found.has(status.complete) && found.size > 4, [...found].join(' '));
});

test('bytes after the end do not matter, and a missing end is doubt', () => {
  const jpeg = fixture('420.jpg');
  const { luma } = decodeTwin(jpeg, frameOf(jpeg));
  for (const tail of [Buffer.from([0]), Buffer.alloc(500, 0xff), fixture('gray.jpg')]) {
    const longer = decodeTwin(Buffer.concat([jpeg, tail]), frameOf(jpeg));
    assert.equal(longer.status, status.complete);
    assert.deepEqual(longer.luma, luma);
  }
  const cut = decodeTwin(jpeg.subarray(0, -2), frameOf(jpeg));
  assert.ok(!isFine(cut.status));
});

test('fill bytes in front of a restart marker are skipped', async () => {
  const jpeg = writeJpeg({ ...small, restartMcus: 2, density: 2 });
  const at = jpeg.indexOf(Buffer.from([0xff, 0xd1]));
  const filled = Buffer.concat([jpeg.subarray(0, at), Buffer.alloc(5, 0xff), jpeg.subarray(at)]);
  assert.equal(await compare(filled, 'fill bytes'), status.complete);
  // More fill bytes than are searched.
  const full = Buffer.concat([jpeg.subarray(0, at), Buffer.alloc(300, 0xff), jpeg.subarray(at)]);
  assert.ok(!isFine((await compare(full, 'many fill bytes'))!));
});

test('files with bytes that hold no pixel are left to cores, or in doubt', async () => {
  const paths = globSync(fileURLToPath(new URL('../../../imaging/mended-jpegs/*.jpg', import.meta.url)));
  assert.ok(paths.length > 10);
  for (const path of paths) {
    const found = await compare(readFileSync(path), path);
    assert.ok(found === undefined || !isFine(found), path);
  }
});

test('restart markers that are lost, doubled or numbered wrongly are doubt', () => {
  const jpeg = writeJpeg({ ...small, restartMcus: 2 });
  const frame = frameOf(jpeg);
  assert.equal(decodeTwin(jpeg, frame).status, status.complete);
  const at = jpeg.indexOf(Buffer.from([0xff, 0xd1]));
  const next = jpeg.indexOf(Buffer.from([0xff, 0xd2]));
  const renumbered = Buffer.from(jpeg);
  renumbered[at + 1] = 0xd5;
  const damaged = {
    'without a marker': Buffer.concat([jpeg.subarray(0, at), jpeg.subarray(at + 2)]),
    'without a segment': Buffer.concat([jpeg.subarray(0, at), jpeg.subarray(next)]),
    doubled: Buffer.concat([jpeg.subarray(0, at), jpeg.subarray(at, at + 2), jpeg.subarray(at)]),
    renumbered,
  };
  for (const [name, file] of Object.entries(damaged)) assert.ok(!isFine(decodeTwin(file, frame).status), name);
});

test('a block that a restart marker cuts after a whole code is doubt', async () => {
  // The flipped bit changes all codes of the rest of the segment. The last of them ends with the segment's last byte.
  const whole = fixture('restart.jpg');
  const flipped = Buffer.from(whole);
  const at = flipped.indexOf(Buffer.from([0x5d, 0xbd, 0x56, 0xaf, 0xdd, 0x5f])) + 4;
  flipped[at] = 0x9d;
  assert.equal(await decodeOnCores(flipped, frameOf(flipped)), undefined);
  assert.ok(!isFine(decodeTwin(flipped, frameOf(flipped)).status));
});

test('data in which guesses never fall into step is doubt', () => {
  // If all components share one table, a guess cannot find out its block of the MCU until a restart marker comes.
  const made = { ...small, width: 900, height: 900, density: 20, bits: 6, sharesTables: true };
  const jpeg = writeJpeg(made);
  assert.ok((decodeTwin(jpeg, frameOf(jpeg)).status & status.unsettled) !== 0);
  const restarting = writeJpeg({ ...made, restartMcus: 50 });
  const found = decodeTwin(restarting, frameOf(restarting)).status;
  assert.ok((found & status.complete) !== 0 && (found & status.unsettled) === 0);
});
