import assert from 'node:assert/strict';
import test from 'node:test';
import {
  chromaBytes,
  decodeColoursTwin,
  hasColours,
  isFine,
  type JpegFile,
  JpegScratch,
  layOutColours,
  placeColours,
} from '@halogrid/jpeg';
import { type MadeUpJpeg, randomSource, writeJpeg } from '@halogrid/jpeg/testing';
import { counts, deviceOfSuite, forDevices, mutants, someOfEncoders } from './testing/jpeg-files.ts';
import { readBack, type TestJpeg } from './testing/run-jpegs.ts';

const suite = deviceOfSuite();

const inEights = (value: number): number => 8 * Math.ceil(value / 8);

/**
 * Decodes a batch in colour. Compares its verdicts, and the colours of fine files, with the twin's. Returns the number
 * of fine files.
 */
async function compare(jpegs: readonly TestJpeg[]): Promise<number> {
  const { device, decoder, converter } = suite;
  const batch: JpegFile[] = [];
  let offset = 0;
  for (const { jpeg, frame } of jpegs) {
    batch.push({ frame, offset, bytes: jpeg.length });
    // Files may begin anywhere in a word.
    offset += jpeg.length + 3;
  }
  const { layout, colours } = layOutColours(batch);
  let planesBytes = 0;
  const places = jpegs.map(({ frame }, i) => {
    const stride = inEights(frame.width) + 8;
    const place = { offset: planesBytes, stride, planeBytes: stride * frame.height + 16 };
    const chroma = planesBytes + 3 * place.planeBytes;
    planesBytes = placeColours({ layout, colours }, i, place, chroma);
    assert.equal(planesBytes, chroma + chromaBytes(frame));
    return place;
  });
  const all = new Uint8Array(4 * Math.ceil(offset / 4)).fill(0xff);
  for (const [i, file] of batch.entries()) all.set(jpegs[i]!.jpeg, file.offset);
  const { STORAGE, COPY_SRC, COPY_DST } = GPUBufferUsage;
  const [bytes, records] = [all, colours.records].map((content) => {
    const buffer = device.createBuffer({ size: content.byteLength, usage: STORAGE | COPY_DST });
    device.queue.writeBuffer(buffer, 0, content);
    return buffer;
  }) as [GPUBuffer, GPUBuffer];
  const planes = device.createBuffer({ size: planesBytes, usage: STORAGE | COPY_SRC });
  const encoder = device.createCommandEncoder();
  const scratch = new JpegScratch(device);
  const buffers = scratch.prepare(layout, encoder, { bytes, planes });
  const pass = encoder.beginComputePass();
  decoder.record(pass, layout, buffers);
  converter.record(pass, colours, records, planes);
  pass.end();
  device.queue.submit([encoder.finish()]);
  const found = new Uint32Array(await readBack(device, buffers.found, layout.scratch.found));
  const pixels = new Uint8Array(await readBack(device, planes, planesBytes));
  scratch.destroy();
  for (const buffer of [bytes, records, planes]) buffer.destroy();
  let fine = 0;
  for (const [i, { name, jpeg, frame }] of jpegs.entries()) {
    const statuses = frame.components.map((_, component) => found[2 * (colours.firsts[i]! + component)]!);
    const isDecoded = statuses.every(isFine);
    const twin = decodeColoursTwin(jpeg, frame);
    assert.equal(isDecoded, twin.statuses.every(isFine), name);
    if (!isDecoded) continue;
    fine++;
    const { offset: first, stride, planeBytes } = places[i]!;
    for (let row = 0; row < 3 * frame.height; row++) {
      const at = first + Math.floor(row / frame.height) * planeBytes + (row % frame.height) * stride;
      const expected = twin.planes.subarray(row * frame.width, (row + 1) * frame.width);
      assert.equal(Buffer.compare(pixels.subarray(at, at + frame.width), expected), 0, `${name}: row ${row}`);
    }
  }
  return fine;
}

test('files of other encoders have the colours of the twin', async () => {
  const jpegs = forDevices(someOfEncoders(), hasColours);
  assert.ok(jpegs.length > 6);
  assert.equal(await compare(jpegs), jpegs.length);
});

test('images of random coefficients, samplings and sizes have the colours of the twin', async () => {
  const random = randomSource(5);
  const lumas = [
    [1, 1],
    [2, 1],
    [1, 2],
    [2, 2],
    [4, 1],
    [4, 2],
    [1, 4],
    [3, 1],
  ] as const;
  const made = Array.from({ length: counts.images }, (_, i): MadeUpJpeg => {
    const luma = lumas[i % lumas.length]!;
    const chroma =
      i % 9 === 3
        ? ([
            [2, 1],
            [1, 2],
          ] as const)
        : ([
            [1, 1],
            [1, 1],
          ] as const);
    return {
      width: random(3) === 0 ? 1 + random(6) : 1 + random(90),
      height: 1 + random(70),
      samplings: i % 10 === 0 ? [[1, 1]] : [luma, ...chroma],
      restartMcus: [0, 0, 1, 3][random(4)]!,
      density: [0, 1, 5, 20, 60][random(5)]!,
      bits: 1 + random(4),
      quantiser: 1 + random(4),
      sharesTables: false,
      seed: 1 + random(2 ** 30),
    };
  });
  const fitting = made.filter(({ samplings: [luma, ...chroma] }) =>
    chroma.every(([across, down]) => across <= luma![0] && down <= luma![1]),
  );
  const files = fitting.map((one) => ({ name: JSON.stringify(one), jpeg: writeJpeg(one) }));
  const jpegs = forDevices(files, hasColours);
  const fine = await compare(jpegs);
  assert.ok(fine > jpegs.length / 3, `${fine} of ${jpegs.length} are in range`);
});

test("the same damaged files are in doubt as with the twin, and the others have the twin's colours", async () => {
  const files = mutants(/(420|422|440|444|gray|restart)\.jpg$/, counts.mutants / 2);
  const jpegs = forDevices(files, hasColours);
  const fine = await compare(jpegs);
  assert.ok(fine > 0 && fine < jpegs.length, `${fine} of ${jpegs.length} are fine`);
});
