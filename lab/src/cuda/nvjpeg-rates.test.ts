import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CudaCall, CudaRow } from './cuda-programs.ts';
import { openNvjpeg } from './nvjpeg-rates.ts';

const row = (name: string, median: number): CudaRow => ({
  name,
  block: null,
  repetitions: 3,
  ms: { median, mean: median, min: median, stdev: 0 },
});

test('milliseconds of a batch of 64 become frames a second', async () => {
  const calls: CudaCall[] = [];
  const rows = async (call: CudaCall) => {
    calls.push(call);
    return [row('nvjpeg-engines', 16), row('nvjpeg-gpu', 8)];
  };
  const nvjpeg = await openNvjpeg(assert.fail, async () => ({ rows, remove: async () => {} }));
  assert.deepEqual(
    [...(await nvjpeg!.rates('/frames'))],
    [
      ['nvjpeg-engines', 4000],
      ['nvjpeg-gpu', 8000],
    ],
  );
  assert.deepEqual(calls, [{ program: 'nvjpeg-frames', arguments: { folder: '/frames', batch: 64 } }]);
});

test('if nvJPEG is missing or fails, one line says why it is left out', async () => {
  const said: string[] = [];
  const rows = () => Promise.reject(new Error('no device'));
  const failing = await openNvjpeg(
    (line) => said.push(line),
    async () => ({ rows, remove: async () => {} }),
  );
  assert.equal((await failing!.rates('/frames')).size, 0);
  assert.equal(said.pop(), 'nvJPEG is left out: no device.');
  const build = () => Promise.reject(new Error("there is no CUDA compiler ('nvcc')"));
  assert.equal(await openNvjpeg((line) => said.push(line), build), undefined);
  assert.deepEqual(said, ["nvJPEG is left out: there is no CUDA compiler ('nvcc')."]);
});
