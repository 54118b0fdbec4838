import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { requestDevice } from '@halogrid/kernels/webgpu';
import { LumaExpander } from './luma-expander.ts';
import { readBack } from './testing/run-jpegs.ts';
import { testedKind } from './testing/tested-kind.ts';
import { openAdapter } from './webgpu-adapter.ts';

let device: GPUDevice;
let expander: LumaExpander;
before(async () => {
  device = await requestDevice((await openAdapter(testedKind)).adapter);
  device.onuncapturederror = ({ error }) => assert.fail(error.message);
  expander = await LumaExpander.create(device);
});
after(() => device.destroy());

async function expanded(luma: Uint8Array, bytes: number): Promise<Uint8Array> {
  const { STORAGE, COPY_SRC, COPY_DST } = GPUBufferUsage;
  const planes = device.createBuffer({ size: luma.length, usage: STORAGE | COPY_SRC | COPY_DST });
  device.queue.writeBuffer(planes, 0, luma);
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  expander.record(pass, planes, bytes);
  pass.end();
  device.queue.submit([encoder.finish()]);
  const found = new Uint8Array(await readBack(device, planes, luma.length));
  planes.destroy();
  return found;
}

/** The 15-bit full-range conversion of FFmpeg 5.1's swscale (lumRangeToJpeg_c), rounded to 8 bits. */
function bySwscale(luma: number): number {
  const wide = (Math.min(luma * 128, 30189) * 19077 - 39057361) >> 14;
  return Math.max(0, Math.min(255, (wide + 64) >> 7));
}

test('every value is expanded as swscale does it, and bytes behind the last one stay', async () => {
  const luma = Uint8Array.from({ length: 1024 }, (_, i) => i);
  const expected = luma.map((value, i) => (i < 512 ? bySwscale(value) : value));
  assert.deepEqual(await expanded(luma, 512), expected);
});

test('planes of more than a row of workgroups are expanded to their end', async () => {
  const luma = new Uint8Array(2 ** 22 + 12).fill(126);
  const found = await expanded(luma, luma.length);
  assert.equal(Buffer.compare(found, new Uint8Array(luma.length).fill(bySwscale(126))), 0);
});
