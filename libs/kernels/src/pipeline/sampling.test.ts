import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleBytes } from '@halogrid/geometry';
import { runs } from '@halogrid/testing';
import fc from 'fast-check';
import { runCpu } from '../cpu.ts';
import { runReference } from '../reference.ts';
import { createPipeline } from './pipeline.ts';
import { placeItem, planPipeline } from './pipeline-item.ts';

const kernels: [name: string, kernel: string, parameters: Record<string, string>][] = [
  ['codes', 'lbp', {}],
  ['labels', 'lbp', { labels: 'uniform' }],
  ['a ring', 'lbp', { points: '16', radius: '2', labels: 'nri-uniform' }],
  ['four directions', 'ldp', {}],
  ['floats', 'conv', { kernel: 'gaussian-5' }],
];

for (const [name, kernel, parameters] of kernels) {
  test(`sampled pixels of ${name} equal the dense result, and counts stay the same`, () => {
    const size = fc.integer({ min: 6, max: 90 });
    const any = fc.record({
      width: size,
      height: size,
      x: fc.nat(9),
      y: fc.nat(9),
      step: fc.integer({ min: 1, max: 12 }),
      seed: fc.nat(),
    });
    fc.assert(
      fc.property(any, fc.constantFrom(undefined, 'interior'), ({ width, height, x, y, step, seed }, border) => {
        const pipeline = createPipeline([{ kernel, parameters, border }]);
        const tile = { x: Math.min(x, width - 6), y: Math.min(y, height - 6), width: 0, height: 0 };
        Object.assign(tile, { width: width - tile.x, height: height - tile.y });
        const plan = planPipeline(pipeline, tile, { width, height });
        const { item, end } = placeItem(plan, 1, 0);
        const bytes = Uint8Array.from({ length: end }, (_, i) => (i * 7919 + seed) % 251);
        const unit = sampleBytes[pipeline.output.sample];
        const bands = pipeline.output.channels.length;
        const sampling = { x: x % step, y: y % step, step, width: 0, height: 0 };
        sampling.width = Math.ceil(Math.max(0, tile.width - sampling.x) / step);
        sampling.height = Math.ceil(Math.max(0, tile.height - sampling.y) / step);
        for (const run of [runCpu, runReference]) {
          const whole = run(pipeline, bytes, item, true);
          const expected: number[] = [];
          for (let band = 0; band < bands; band++) {
            for (let row = 0; row < sampling.height; row++) {
              for (let column = 0; column < sampling.width; column++) {
                const at =
                  band * whole.map!.bandBytes +
                  (sampling.y + row * step) * whole.map!.stride +
                  (sampling.x + column * step) * unit;
                expected.push(...whole.map!.bytes.subarray(at, at + unit));
              }
            }
          }
          const sampled = run(pipeline, bytes, { ...item, sampling }, true);
          assert.deepEqual([...sampled.map!.bytes], expected);
          assert.equal(sampled.map!.stride, sampling.width * unit);
          assert.deepEqual([sampled.counted, sampled.bins], [whole.counted, whole.bins]);
        }
      }),
      { numRuns: runs(40) },
    );
  });
}
