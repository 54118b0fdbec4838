import assert from 'node:assert/strict';
import { test } from 'node:test';
import { turns } from '@halogrid/testing';
import { open } from './index.ts';
import type { OpenOptions } from './types.ts';

/** A WebGPU whose adapter describes itself with `info`; without `info`, it has no adapter. */
const gpuOf = (info?: Partial<GPUAdapterInfo>, refusal?: string, lost: Promise<unknown> = new Promise(() => {})): GPU =>
  ({
    requestAdapter: async () =>
      info && {
        info: { vendor: '', architecture: '', device: '', description: '', ...info },
        features: new Set(),
        limits: {},
        requestDevice: async () => {
          if (refusal) throw new Error(refusal);
          return {
            adapterInfo: { vendor: 'nvidia', architecture: 'ampere', ...info },
            limits: {},
            lost,
          };
        },
      },
  }) as unknown as GPU;

const hardware = { vendor: 'nvidia', architecture: 'ampere' };
const software = { vendor: 'google', architecture: 'swiftshader' };

test('auto takes a GPU, or WebAssembly if there is no GPU, and says why', async () => {
  const chosen: [options: OpenOptions, on: string, name: string, reason: RegExp][] = [
    [{ gpu: gpuOf(hardware) }, 'webgpu', 'nvidia ampere', /^There is a GPU\.$/],
    [{}, 'wasm', 'WebAssembly', /^WebGPU is missing here: /],
    [{ gpu: gpuOf() }, 'wasm', 'WebAssembly', /^WebGPU finds no adapter here\.$/],
    [{ gpu: gpuOf(software) }, 'wasm', 'WebAssembly', /^The only WebGPU adapter is software \(google swiftshader\), /],
    [{ gpu: gpuOf(hardware, 'The driver was reset.') }, 'wasm', 'WebAssembly', /^The driver was reset\.$/],
  ];
  for (const [options, on, name, reason] of chosen) {
    const device = await open(options);
    assert.deepEqual([device.on, device.name], [on, name]);
    assert.match(device.reason, reason);
  }
});

test('the chosen device is taken, or refused with the reason', async () => {
  assert.equal((await open({ on: 'webgpu', gpu: gpuOf(software) })).name, 'google swiftshader');
  assert.equal((await open({ on: 'reference' })).on, 'reference');
  await assert.rejects(open({ on: 'webgpu' }), { message: /^WebGPU is missing here: .*package webgpu\.$/ });
  await assert.rejects(open({ on: 'webgpu', gpu: gpuOf() }), { message: 'WebGPU finds no adapter here.' });
});

test('if WebAssembly is forbidden, a sentence names the remedy, and the reference computes', async (t) => {
  t.mock.method(WebAssembly, 'Module', function forbidden() {
    throw new Error('Wasm code generation disallowed by embedder');
  } as never);
  await assert.rejects(open({ on: 'wasm' }), {
    message: /^WebAssembly is not available \(Wasm code .*'wasm-unsafe-eval'/,
  });
  assert.equal((await open({ on: 'reference' })).on, 'reference');
});

test('the usual device is opened once, and again after it was lost', async () => {
  // A fresh copy of the module: tests of other files in this process may have opened its usual device.
  const module: typeof import('./open.ts') = await import(new URL('./open.ts?usual', import.meta.url).href);
  const { usualDevice } = module;
  const { promise: lost, resolve: lose } = Promise.withResolvers();
  Object.defineProperty(globalThis.navigator, 'gpu', { value: gpuOf(hardware, undefined, lost), configurable: true });
  try {
    const first = await usualDevice();
    assert.equal(first.on, 'webgpu');
    assert.equal(await usualDevice(), first);
    lose({ message: 'The driver was reset.' });
    await turns();
    assert.notEqual(await usualDevice(), first);
    // The second device is lost as well, so that nothing of it stays.
    await turns();
  } finally {
    Reflect.deleteProperty(globalThis.navigator, 'gpu');
  }
});
