import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import sharp from 'sharp';
import { photograph, writePhotograph } from './photograph.ts';

const camera = new URL('../../../libs/kernels/oracle/images/camera.png', import.meta.url);

test('a photograph is reflected at its edges until it fills the size', async () => {
  const { data, info } = await sharp(readFileSync(camera)).greyscale().raw().toBuffer({ resolveWithObject: true });
  const size = { width: 2 * info.width + 3, height: info.height + 5 };
  const pixels = await photograph(size);
  const at = (x: number, y: number) => pixels[y * size.width + x];
  const of = (x: number, y: number) => data[(y * info.width + x) * info.channels];
  for (const [x, y] of [
    [0, 0],
    [17, 300],
    [info.width - 1, info.height - 1],
  ] as const) {
    assert.equal(at(x, y), of(x, y));
    assert.equal(at(2 * info.width - 1 - x, y), of(x, y), 'to the right of the edge');
  }
  assert.equal(at(2 * info.width + 2, info.height + 4), of(2, info.height - 5), 'once more, and below the edge');
});

test('CUDA programs read it as a binary PGM', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'halogrid-photograph-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const size = { width: 40, height: 30 };
  const file = readFileSync(await writePhotograph(folder, size));
  const header = 'P5\n40 30\n255\n';
  assert.equal(file.toString('latin1', 0, header.length), header);
  assert.deepEqual(new Uint8Array(file.subarray(header.length)), await photograph(size));
});
