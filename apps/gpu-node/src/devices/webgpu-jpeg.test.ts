import assert from 'node:assert/strict';
import test from 'node:test';
import { decodeJpeg } from '@halogrid/imaging';
import { bandOf, decodeTwin, endOfData, findStretches, isFine } from '@halogrid/jpeg';
import { fileWords, groupChunks, type MadeUpJpeg, randomSource, writeJpeg } from '@halogrid/jpeg/testing';
import { runReference } from '@halogrid/kernels';
import { createGpuProgram } from '@halogrid/kernels/gpu';
import { isThorough } from '@halogrid/testing';
import sharp from 'sharp';
import {
  counts,
  deviceOfSuite,
  filesOfEncoders,
  fixturesNamed,
  forDevices,
  mutants,
  photograph,
  someOfEncoders,
} from './testing/jpeg-files.ts';
import { type DecodedJpegs, lbp, readBack, runJpegs, type TestJpeg } from './testing/run-jpegs.ts';

// Test-only packages are left out, so that this suite also runs where only the program is installed: on a machine with
// a GPU.
const suite = deviceOfSuite();

/** Compares verdicts, and pixels of fine files, with the twin's. Returns the number of fine files. */
function compare(jpegs: readonly TestJpeg[], { files, statuses, planes }: DecodedJpegs): number {
  let fine = 0;
  for (const [i, { name, jpeg, frame }] of jpegs.entries()) {
    const twin = decodeTwin(jpeg, frame);
    assert.equal(isFine(statuses[i]!), isFine(twin.status), `${name}: ${statuses[i]}, twin ${twin.status}`);
    if (!isFine(twin.status)) continue;
    fine++;
    const { offset, stride } = files[i]!.plane;
    for (let y = 0; y < frame.height; y++) {
      const row = planes.subarray(offset + y * stride, offset + y * stride + frame.width);
      const expected = twin.luma.subarray(y * frame.width, (y + 1) * frame.width);
      assert.equal(Buffer.compare(row, expected), 0, `${name}: row ${y}`);
    }
  }
  return fine;
}

test('every pass leaves the same data as that step of the twin', async () => {
  const jpegs = forDevices(filesOfEncoders());
  const result = await runJpegs(suite.device, suite.decoder, jpegs);
  const { words, chunks, decoded, groups, entries } = result.scratch;
  for (const [i, { name, jpeg, frame }] of jpegs.entries()) {
    const twin = decodeTwin(jpeg, frame);
    const record = result.layout.files.subarray(i * fileWords, (i + 1) * fileWords);
    const firstGroup = record[3]!;
    for (const [number, { words: own, length, marks, end, firstRestart, isOdd }] of twin.chunks.entries()) {
      const group = firstGroup + Math.floor(number / groupChunks);
      const lane = number % groupChunks;
      const found = own.map((_, j) => words[(group * own.length + j) * groupChunks + lane]!);
      assert.deepEqual(found, own, `${name}: words of chunk ${number}`);
      const about = length | (end << 8) | (firstRestart << 16) | (Number(isOdd) << 24);
      const place = 4 * (group * groupChunks + lane);
      assert.deepEqual([...chunks.subarray(place, place + 4)], [about, ...marks], `${name}: chunk ${number}`);
    }
    for (const [number, { entry, exit, counts }] of twin.decoded.entries()) {
      const group = firstGroup + Math.floor(number / groupChunks);
      const at = 8 * (group * groupChunks + (number % groupChunks));
      const packed = counts.restarts | (counts.blocks << 6) | (counts.entries << 16);
      assert.deepEqual([...decoded.subarray(at, at + 4)], [entry, exit, packed, counts.dc >>> 0], `${name}: ${number}`);
      // The place before the first chunk of a group is the place before the group.
      if (number % groupChunks > 0) continue;
      const { restarts, blocks, dc, entries: before } = twin.places[number]!;
      const found = [...groups.subarray(12 * group + 8, 12 * group + 12)];
      assert.deepEqual(found, [restarts, blocks, dc >>> 0, before], `${name}: before group ${group}`);
    }
    const { starts, entries: own } = twin.coefficients;
    assert.deepEqual(entries.subarray(record[18]!, record[18]! + starts.length), starts, `${name}: starts`);
    const count = starts.at(-1)!;
    assert.deepEqual(entries.subarray(record[16]!, record[16]! + count), own.subarray(0, count), `${name}: entries`);
  }
  assert.equal(compare(jpegs, result), jpegs.length);
});

test('a picture of 8191 x 8191 equals what libjpeg-turbo makes of it', {
  skip: !isThorough && 'HALOGRID_THOROUGH=1',
}, async () => {
  const side = 8191;
  const jpeg = await sharp(photograph).resize(side, side, { fit: 'fill' }).jpeg({ quality: 90 }).toBuffer();
  const jpegs = forDevices([{ name: 'large', jpeg }]);
  const { files, statuses, planes } = await runJpegs(suite.device, suite.decoder, jpegs);
  assert.ok(isFine(statuses[0]!), `${statuses[0]}`);
  const { offset, stride } = files[0]!.plane;
  const expected = new Uint8Array(stride * side);
  await decodeJpeg(jpeg, { bytes: expected, offset: 0, stride, channels: 'gray', planeBytes: expected.length });
  for (let y = 0; y < side; y++) {
    const row = planes.subarray(offset + y * stride, offset + y * stride + side);
    assert.equal(Buffer.compare(row, expected.subarray(y * stride, y * stride + side)), 0, `row ${y}`);
  }
});

test('a kernel after the decoder counts the decoded pixels, in the same pass', async () => {
  const { device } = suite;
  const jpegs = forDevices(someOfEncoders());
  const program = await createGpuProgram(device, lbp, { map: false });
  const { STORAGE, UNIFORM, COPY_SRC, COPY_DST } = GPUBufferUsage;
  const made: GPUBuffer[] = [];
  const buffer = (size: number, usage: number) => {
    const one = device.createBuffer({ size: Math.max(16, size), usage });
    made.push(one);
    return one;
  };
  let unpack = async (): Promise<readonly Uint32Array[]> => [];
  const { items, planes } = await runJpegs(suite.device, suite.decoder, jpegs, (pass, decoded, items) => {
    const layout = program.layOut(items);
    const table = buffer(layout.tableBytes, UNIFORM | COPY_DST);
    device.queue.writeBuffer(table, 0, layout.table);
    const histograms = buffer(layout.histogramsBytes, STORAGE | COPY_SRC);
    program.record(pass, layout, { planes: [decoded], table, histograms, maps: buffer(16, STORAGE) });
    unpack = async () => {
      const words = new Uint32Array(await readBack(device, histograms, layout.histogramsBytes));
      return program.unpack(layout, words, new Uint8Array(0)).map(({ bins }) => new Uint32Array(bins));
    };
  });
  const found = await unpack();
  for (const [i, item] of items.entries()) {
    assert.deepEqual(found[i], runReference(lbp, planes, item, false).bins, jpegs[i]!.name);
  }
  for (const one of made) one.destroy();
});

test("images of random coefficients, samplings, tables and restart intervals equal the twin's", async () => {
  const random = randomSource(11);
  const samplings: MadeUpJpeg['samplings'][] = [
    [[1, 1]],
    ...(
      [
        [1, 1],
        [2, 1],
        [1, 2],
        [2, 2],
        [4, 1],
        [3, 1],
        [3, 2],
      ] as const
    ).map((luma) => [luma, [1, 1], [1, 1]] as const),
  ];
  const made = Array.from({ length: counts.images }, (_, i) => ({
    width: 1 + random(90),
    height: 1 + random(70),
    samplings: samplings[i % samplings.length]!,
    restartMcus: [0, 0, 1, 3, 10][random(5)]!,
    density: [0, 1, 5, 20, 60, 100][random(6)]!,
    bits: 1 + random(5),
    quantiser: 1 + random(4),
    sharesTables: random(4) === 0,
    seed: 1 + random(2 ** 30),
  }));
  // Blocks without an end, in several groups, so that chunks are decoded many times. A GPU once kept the state of an
  // earlier decoding.
  const full = { density: 100, bits: 5, quantiser: 4, sharesTables: false, restartMcus: 0, seed: 622704135 };
  made.push({
    ...full,
    width: 65,
    height: 46,
    samplings: [
      [1, 2],
      [1, 1],
      [1, 1],
    ],
  });
  const jpegs = forDevices(made.map((one) => ({ name: JSON.stringify(one), jpeg: writeJpeg(one) })));
  const fine = compare(jpegs, await runJpegs(suite.device, suite.decoder, jpegs));
  assert.ok(fine > jpegs.length / 3, `${fine} of ${jpegs.length} are in range`);
});

test("the same damaged files are in doubt as with the twin, and the others equal the twin's", async () => {
  const jpegs = forDevices(mutants(/(420|422|444|gray|restart|17x31)\.jpg$/, counts.mutants));
  const fine = compare(jpegs, await runJpegs(suite.device, suite.decoder, jpegs));
  assert.ok(fine > 0 && fine < jpegs.length, `${fine} of ${jpegs.length} are fine`);
});

test("bands of images equal the twin's", async () => {
  const random = randomSource(3);
  const made = Array.from({ length: 12 }, (_, i): MadeUpJpeg => {
    const luma = (
      [
        [1, 1],
        [2, 1],
        [2, 2],
      ] as const
    )[i % 3]!;
    return {
      width: 20 + random(80),
      height: 40 + random(60),
      samplings: [luma, [1, 1], [1, 1]],
      restartMcus: [1, 2, 7, 30][i % 4]!,
      density: 10,
      bits: 3,
      quantiser: 2,
      sharesTables: false,
      seed: 1 + i,
    };
  });
  const files = [
    ...fixturesNamed(/restart\.jpg$/),
    ...made.map((one, i) => ({ name: `made ${i}`, jpeg: writeJpeg(one) })),
  ];
  const bands = forDevices(files).flatMap(({ name, jpeg, frame }) => {
    const stretches = findStretches(jpeg, frame);
    if (typeof stretches === 'string') assert.fail(`${name}: ${stretches}`);
    const rows = 8 * frame.lumaDown * 2;
    return Array.from({ length: Math.ceil(frame.height / rows) }, (_, i): TestJpeg => {
      const band = bandOf(frame, stretches, i * rows, rows);
      const bytes = Buffer.concat([jpeg.subarray(band.from, band.to), endOfData]);
      return { name: `${name}, band ${i}`, jpeg: bytes, frame: band.frame };
    });
  });
  assert.ok(bands.length > 30 && bands.some(({ frame }) => frame.skippedMcus > 0 && frame.firstRestart > 0));
  const fine = compare(bands, await runJpegs(suite.device, suite.decoder, bands));
  assert.ok(fine > bands.length / 2, `${fine} of ${bands.length} are in range`);
});
