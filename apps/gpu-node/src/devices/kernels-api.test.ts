import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Device, ldp, open, pipeline } from '@halogrid/kernels/api';
import { noise } from '@halogrid/kernels/testing';
import { requestDevice } from '@halogrid/kernels/webgpu';
import { isThorough, repeated } from '@halogrid/testing';
import fc from 'fast-check';
import { testedKind } from './testing/tested-kind.ts';
import { openAdapter } from './webgpu-adapter.ts';

// The kernels on WebGPU without a node, as other programs use them.

let own: GPUDevice;
let device: Device;
let reference: Device;

before(async () => {
  own = await requestDevice((await openAdapter(testedKind)).adapter);
  device = await open({ device: own });
  reference = await open({ on: 'reference' });
});
after(() => own?.destroy());

/** SwiftShader compiles each of four programs for a second of a core, so that one is tried unless more is asked for. */
const either = (one: boolean) => (isThorough ? fc.boolean() : fc.constant(one));

const pictures = (isDeep: boolean) =>
  fc
    .record({
      width: fc.integer({ min: 1, max: 70 }),
      height: fc.integer({ min: 1, max: 40 }),
      step: fc.constantFrom(1, 3, 4),
      levels: fc.constantFrom(2, 256),
      seed: fc.integer(),
      isDeep: either(isDeep),
    })
    .map(({ width, height, step, levels, seed, isDeep }) => {
      const data = noise(width * height * step, seed, levels);
      return { data: isDeep ? Uint16Array.from(data, (value) => 257 * value) : data, width, height };
    });

for (const [isDeep, withMap, ...texts] of [
  [true, true, 'lbp'],
  [false, false, 'ldp:order=2'],
  [false, true, 'conv:kernel=sobel-x,as=u8', 'lbp:points=12,radius=1.5,labels=uniform'],
] as const) {
  test(`${texts.join(' ')} gives on WebGPU what it gives on the reference`, async () => {
    const run = pipeline(texts, { border: 'mirror' });
    const grid = { rows: 2, columns: 2 };
    await fc.assert(
      fc.asyncProperty(pictures(isDeep), either(withMap), async (picture, map) => {
        fc.pre(Math.min(picture.width, picture.height) >= 3);
        const found = await run(picture, { device, grid, map });
        assert.deepEqual(found, await run(picture, { device: reference, grid, map }));
      }),
      { numRuns: repeated(6) },
    );
  });
}

/** What a test above asks for, so that its program is compiled already. */
const asked = { order: 2, border: 'mirror', map: false } as const;

test('pictures given at the same time are computed one after another, also if a later one is larger', async () => {
  // The last needs more than the memory that is made first, 1 MiB.
  const sides = [16, 100, 40, 1100];
  const found = await Promise.all(
    sides.map((side) => ldp({ data: noise(side * side, side), width: side, height: side }, { ...asked, device })),
  );
  const wasm = await open({ on: 'wasm' });
  for (const [i, side] of sides.entries()) {
    const picture = { data: noise(side * side, side), width: side, height: side };
    assert.deepEqual(found[i], await ldp(picture, { ...asked, device: wasm }));
  }
});

test('a device of the caller is not destroyed, and a lost device ends the wait with its reason', async () => {
  const picture = { data: new Uint8Array(64), width: 8, height: 8 };
  const second = await open({ device: own });
  second.close();
  await assert.rejects(ldp(picture, { ...asked, device: second }), { message: /^The device is closed/ });
  assert.equal((await ldp(picture, { ...asked, device })).counted, 64);
  own.destroy();
  await assert.rejects(ldp(picture, { ...asked, device }), { message: /^The WebGPU device was lost: / });
});
