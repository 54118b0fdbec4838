import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kernelNames } from './catalogue.ts';
import { kernelForms } from './kernel-forms.ts';
import { createPipeline, parseOperation } from './pipeline/pipeline.ts';

test('forms exist for every kernel, their initial values make a pipeline, and choices contain them', () => {
  const kernels = kernelForms();
  assert.deepEqual(
    kernels.map(({ name }) => name),
    kernelNames,
  );
  for (const { name, parameters } of kernels) {
    const begin = Object.fromEntries(parameters.map((parameter) => [parameter.name, parameter.value]));
    assert.equal(createPipeline([{ kernel: name, parameters: begin }]).operations[0]!.kernel, name);
    for (const { name: parameter, value, choices, allowed } of parameters) {
      assert.ok(choices.length === 0 || choices.includes(value), `${value} of ${parameter}`);
      assert.notEqual(allowed, '', parameter);
    }
  }
});

test('parameters that are names have choices, numbers are described', () => {
  const lbp = kernelForms().find(({ name }) => name === 'lbp')!;
  const of = (name: string) => lbp.parameters.find((parameter) => parameter.name === name)!;
  assert.deepEqual(of('labels').choices, ['all', 'ror', 'uniform', 'nri-uniform', 'var']);
  assert.deepEqual([of('points').choices, of('points').allowed], [[], 'a whole number from 4 to 24']);
});

test('further parameters are described, too, and every example is a value of --op', () => {
  const conv = kernelForms().find(({ name }) => name === 'conv')!;
  assert.deepEqual(
    conv.further.map(({ name }) => name),
    ['matrix', 'sigma'],
  );
  assert.match(conv.further[0]!.allowed, /square matrix/);
  assert.equal(conv.parameters.find(({ name }) => name === 'kernel')!.isRequired, true);
  for (const { name, example, border } of kernelForms()) {
    const pipeline = createPipeline([parseOperation(example)]);
    assert.deepEqual([pipeline.operations[0]!.kernel, pipeline.operations[0]!.border], [name, border]);
  }
});
