import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { type AskedOperation, createPipeline, type Operation } from '@halogrid/kernels';
import { type GpuOutput, type Strategy, strategiesOf } from '@halogrid/kernels/gpu';
import { type MapSamples, noiseImage, samplesOf, staged } from '@halogrid/kernels/testing';
import type { NodeDevice } from './device.ts';
import { runOne, type TestVariant, testedKind, verifyAgainstReference } from './testing/verify-against-reference.ts';
import { openWebGpuDevice } from './webgpu-device.ts';

type Chosen = Partial<Record<GpuOutput, Strategy>>;
/** The choices by parameters and border, so that a device compiles each once. */
const chosen = new Map<string, Chosen>();
let device: NodeDevice;
before(async () => {
  device = await openWebGpuDevice(testedKind, {
    choose: (operation, output) => {
      const strategies = chosen.get(nameOf(operation));
      assert.ok(!strategies || strategies[output], `a strategy of ${nameOf(operation)} for ${output}`);
      return strategies?.[output];
    },
  });
});
after(() => device.close());

const nameOf = ({ kernel, parameters, border }: Operation): string => JSON.stringify([kernel, parameters, border]);

/** Makes `asked` run with the named strategies, such as `word 8x8`, one per output. Throws for an unknown one. */
function choose(asked: AskedOperation, strategies: Partial<Record<GpuOutput, string>>): AskedOperation {
  const operation = createPipeline([asked]).operations[0]!;
  const entries = Object.entries(strategies).map(([output, wanted]) => {
    const found = strategiesOf(operation, output as GpuOutput).find(
      ({ name, lanes }) => `${name} ${lanes.width}x${lanes.height}` === wanted,
    );
    assert.ok(found, wanted);
    return [output, found];
  });
  chosen.set(nameOf(operation), Object.fromEntries(entries));
  return asked;
}

const lbp = (border: string, parameters = {}): AskedOperation => ({ kernel: 'lbp', parameters, border });
const ldp = (order: string, border: string): AskedOperation => ({ kernel: 'ldp', parameters: { order }, border });
const conv = (parameters: Record<string, string>, border: string): AskedOperation => {
  return { kernel: 'conv', parameters, border };
};

/**
 * Each path, and shapes other than the default. Not all combinations, because SwiftShader takes a second to compile
 * each.
 */
const variants = (): TestVariant[] => [
  { operations: [choose(lbp('zero'), { both: 'word 4x4' })], withMap: true },
  { operations: [choose(lbp('reflect'), { histogram: 'word-global 16x16' })], withMap: false },
  { operations: [choose(lbp('wrap'), { both: 'workgroup 8x8' })], withMap: true },
  { operations: [choose(lbp('replicate'), { histogram: 'vector-global 32x8' })], withMap: false },
  { operations: [choose(lbp('mirror', { convention: 'nw-cw-lsb' }), { both: 'vector 4x32' })], withMap: true },
  // Images of one cell are computed at once.
  {
    operations: [choose(lbp('interior'), { map: 'workgroup 32x4', histogram: 'word 8x8', both: 'word 8x8' })],
    withMap: true,
    grid: { rows: 2, columns: 3 },
  },
  {
    operations: [choose(lbp('zero', { points: '16', radius: '2', labels: 'uniform' }), { both: 'workgroup 64x2' })],
    withMap: true,
  },
  {
    operations: [choose(lbp('wrap', { points: '12', radius: '1.5' }), { histogram: 'workgroup 64x1' })],
    withMap: false,
  },
  { operations: [choose(ldp('2', 'mirror'), { both: 'strip 8x8' })], withMap: true },
  { operations: [choose(ldp('6', 'interior'), { histogram: 'strip 8x16' })], withMap: false },
  {
    operations: [choose(conv({ kernel: 'sharpen-3', as: 'u8', channels: 'rgb' }, 'zero'), { both: 'global 16x8' })],
    withMap: true,
  },
  {
    operations: [choose(conv({ kernel: 'gaussian-5', as: 'i16' }, 'wrap'), { both: 'workgroup 8x32' })],
    withMap: true,
  },
  { operations: [choose(conv({ kernel: 'box-21' }, 'reflect'), { both: 'workgroup 32x8' })], withMap: true },
  { operations: [choose(conv({ kernel: 'box-5' }, 'interior'), { both: 'separable 32x8' })], withMap: true },
];

test('with every exact strategy, batches of tiles equal the reference', async () => {
  const all = variants();
  await verifyAgainstReference(device, all, { gpu: 60 * all.length, software: 5 * all.length });
});

test('float32 sums are equal bit for bit in every shape of an exact path', async () => {
  const image = noiseImage({ width: 201, height: 90 }, 7);
  const compute = async (operation: AskedOperation): Promise<MapSamples> => {
    const pipeline = createPipeline([operation]);
    const { item, bytes } = staged(pipeline, image);
    return samplesOf(pipeline, await runOne(device, pipeline, bytes, item), image);
  };
  // Operations with different borders have different keys; no result here depends on pixels outside.
  for (const [parameters, strategy] of [
    [{ kernel: 'gaussian-9' }, 'separable 16x8'],
    [{ kernel: 'sobel' }, 'workgroup 8x32'],
  ] as const) {
    const whole = await compute(conv(parameters, 'interior'));
    const other = await compute(choose(conv(parameters, 'replicate'), { both: strategy }));
    const halo = 4;
    for (let y = halo; y < image.height - halo; y++) {
      const [from, to] = [y * image.width + halo, (y + 1) * image.width - halo];
      assert.deepEqual(whole.subarray(from, to), other.subarray(from, to));
    }
  }
});
