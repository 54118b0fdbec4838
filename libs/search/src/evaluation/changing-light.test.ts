import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPipeline } from '@halogrid/kernels';
import { runCpu } from '@halogrid/kernels/cpu';
import { staged } from '@halogrid/kernels/testing';
import { massOf } from '../distances/vector.ts';
import { litFaces } from '../testing/lit-faces.ts';
import { type Evaluation, evaluate } from './evaluate.ts';

const faces = [...litFaces(12, 6)];
const grid = { rows: 4, columns: 4 };

function evaluated(kernel: string, parameters: Record<string, string>): Evaluation {
  const pipeline = createPipeline([{ kernel, parameters }]);
  const images = faces.map(({ person, width, height, pixels }, i) => {
    const { item, bytes } = staged(pipeline, { width, height, pixels }, undefined, grid);
    const bins = Float64Array.from(runCpu(pipeline, bytes, item, false).bins);
    return { uri: String(i).padStart(4, '0'), label: String(person), vector: { bins, mass: massOf(bins) } };
  });
  return evaluate(images, 'intersection');
}

// Zhang, Gao, Zhao and Liu (IEEE TIP 19, 2010) rank third order above second order above LBP.
test('on drawn faces under changing light, LDP ranks above LBP, and its third order above its second', () => {
  const [lbp, second, third] = [
    evaluated('lbp', {}),
    evaluated('ldp', { order: '2' }),
    evaluated('ldp', { order: '3' }),
  ];
  for (const measure of ['recognitionRate', 'meanAveragePrecision', 'auc'] as const) {
    const [low, middle, high] = [lbp[measure], second[measure], third[measure]];
    assert.ok(low <= middle && middle < high, `${measure}: LBP ${low}, LDP ${middle} and ${high}`);
  }
});
