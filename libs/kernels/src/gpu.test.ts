import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cellSizeOf, type GpuOutput, strategiesOf, strategyKey } from './gpu.ts';
import type { AskedOperation, Operation } from './kernel/operation.ts';
import { createPipeline } from './pipeline/pipeline.ts';
import { placeItem, planPipeline } from './pipeline/pipeline-item.ts';

const operationOf = (asked: AskedOperation): Operation => createPipeline([asked]).operations[0]!;
const lbp = (parameters = {}): AskedOperation => ({ kernel: 'lbp', parameters });
const conv = (parameters: Record<string, string>): AskedOperation => ({ kernel: 'conv', parameters });

const direct = 'workgroup global';
/** Sums of 27 bits. */
const large = JSON.stringify(Array.from({ length: 3 }, (_, i) => [i * 9000, 8000 - i, 7000 + i * i]));

const table: [asked: AskedOperation, output: GpuOutput, key: string, names: string, exact: string][] = [
  [lbp(), 'map', 'lbp/square/map', 'vector word workgroup', 'vector word workgroup'],
  [
    lbp({ convention: 'nw-cw-lsb' }),
    'both',
    'lbp/square/both',
    'vector vector-global word word-global workgroup',
    'vector vector-global word word-global workgroup',
  ],
  [
    lbp({ points: '16', radius: '2', labels: 'uniform' }),
    'histogram',
    'lbp/ring-16-halo-2-uniform/histogram',
    'workgroup',
    'workgroup',
  ],
  [lbp({ points: '8', radius: '16' }), 'both', 'lbp/ring-8-halo-16-all/both', 'workgroup', 'workgroup'],
  [lbp({ points: '8', radius: '1.5', labels: 'var' }), 'map', 'lbp/ring-8-halo-2-var/map', 'workgroup', 'workgroup'],
  [{ kernel: 'ldp', parameters: { order: '6' } }, 'both', 'ldp/order-6/both', 'strip', 'strip'],
  [conv({ kernel: 'sobel', as: 'u8' }), 'both', 'conv/direct-3-magnitude-u8/both', direct, direct],
  [conv({ matrix: large }), 'map', 'conv/direct-3-exact-f32/map', direct, direct],
  [conv({ kernel: 'gaussian-3', sigma: '1.5' }), 'map', 'conv/direct-3-real-f32/map', direct, 'workgroup'],
  [conv({ kernel: 'gaussian-21' }), 'map', 'conv/separable-21-real-f32/map', `separable ${direct}`, 'separable'],
  [
    conv({ kernel: 'box-21' }),
    'map',
    'conv/separable-21-integer-f32/map',
    `separable ${direct}`,
    `separable ${direct}`,
  ],
];

for (const [asked, output, key, names, exact] of table) {
  test(`${key} has the strategies ${names}`, () => {
    const strategies = strategiesOf(operationOf(asked), output);
    const namesOf = (some: typeof strategies) => [...new Set(some.map(({ name }) => name))].join(' ');
    assert.equal(namesOf(strategies), names);
    assert.equal(namesOf(strategies.filter(({ isExact }) => isExact)), exact);
    assert.ok(strategies[0]!.isExact);
    const told = strategies.map(({ name, lanes }) => `${name} ${lanes.width}x${lanes.height}`);
    assert.equal(new Set(told).size, told.length);
    for (const { lanes } of strategies) assert.ok(lanes.width * lanes.height <= 256);
  });

  test(`${key} is the key with any border`, () => {
    for (const border of ['zero', 'wrap', 'interior']) {
      assert.equal(strategyKey(operationOf({ ...asked, border }), output), key);
    }
  });
}

for (const [side, cells, expected] of [
  [128, 1, undefined],
  [128, 2, 'small'],
  [129, 2, 'large'],
] as const) {
  test(`an image of ${side} x ${side} in ${cells} x ${cells} has ${expected ?? 'no'} cells`, () => {
    const size = { width: side, height: side };
    const plan = planPipeline(createPipeline([lbp()]), { x: 0, y: 0, ...size }, size, { rows: cells, columns: cells });
    assert.equal(cellSizeOf([placeItem(plan, 1, 0).item]), expected);
  });
}
