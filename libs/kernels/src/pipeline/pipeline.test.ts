import assert from 'node:assert/strict';
import test from 'node:test';
import type { AskedOperation } from '../kernel/operation.ts';
import { createPipeline, describePipeline, parseOperation } from './pipeline.ts';

const op = (text: string, border?: string): AskedOperation => ({ ...parseOperation(text), border });

test('parameters and borders that are left out take their defaults', () => {
  const { operations, convention } = createPipeline([op('lbp')]);
  assert.equal(operations[0]!.border, 'interior');
  assert.equal(operations[0]!.parameters.convention, 'nw-cw-msb');
  assert.equal(convention, 'nw-cw-msb');
});

test('a pipeline is described by one line with all its parameters, in a fixed order', () => {
  const line = describePipeline(
    createPipeline(
      [op('conv:as=u8,kernel=box-3'), op('lbp:convention=nw-cw-lsb', 'wrap')].map((o) => ({
        ...o,
        border: 'symmetric',
      })),
    ),
  );
  assert.equal(
    line,
    'conv:as=u8,channels=gray,kernel=box-3 border=reflect > lbp:convention=nw-cw-lsb,labels=all,points=8,radius=1 border=reflect',
  );
});

test('the last kernel says whether a mean of results makes sense', () => {
  const table: [ops: string[], kind: string][] = [
    [['lbp'], 'labels'],
    [['lbp:points=16,radius=2,labels=uniform'], 'labels'],
    [['lbp:points=24,radius=3'], 'labels'],
    [['lbp:labels=var,convention=scikit-image'], 'values'],
    [['ldp:order=3'], 'labels'],
    [['conv:kernel=sobel'], 'values'],
    [['conv:kernel=gaussian-5,as=u8'], 'values'],
    [['conv:kernel=sobel-x,as=i16'], 'values'],
    [['conv:kernel=gaussian-5,as=u8', 'lbp'], 'labels'],
  ];
  for (const [ops, kind] of table) assert.equal(createPipeline(ops.map(parseOperation)).meaning, kind, ops.join());
});

test('parameters that do not follow a colon are refused with the text that was meant', () => {
  for (const text of ['lbp,points=16,radius=2', 'lbp points=16,radius=2']) {
    const message = `Expected NAME:key=value,key=value for the kernel but received '${text}' (did you mean lbp:points=16,radius=2?)`;
    assert.throws(() => parseOperation(text), { name: 'ParameterError', message });
  }
});

const refused: [string, AskedOperation[], RegExp][] = [
  ['no kernel', [], /^Expected 1 to 8 for the number of kernels in a pipeline but received '0'$/],
  ['nine kernels', new Array(9).fill(op('lbp')), /but received '9'$/],
  [
    'LBP of real values',
    [op('conv:kernel=gaussian-5'), op('lbp')],
    /^Expected u8 gray for the input of kernel 2 of the pipeline \(lbp\) but received 'f32 gray of conv, which gives u8 with as=u8'$/,
  ],
  [
    'LBP of colours',
    [op('conv:kernel=gaussian-5,as=u8,channels=rgb'), op('lbp')],
    /but received 'u8 red green blue of conv'$/,
  ],
  ['anything after LDP', [op('ldp'), op('lbp')], /but received 'u8 0 45 90 135 of ldp'$/],
  [
    'wrap with another border',
    [op('lbp', 'wrap'), op('lbp', 'zero')],
    /^Expected wrap for every kernel or for none for the borders of a pipeline but received 'wrap, zero'$/,
  ],
];
for (const [name, operations, sentence] of refused) {
  test(`${name} is refused with one sentence`, () => {
    assert.throws(() => createPipeline(operations), { message: sentence });
  });
}

const malformed: [string, RegExp][] = [
  ['lbp:convention', /^Expected key=value for a parameter of lbp but received 'convention'$/],
  ['lbp:=1', /^Expected key=value/],
  ['lbp:points=8,points=8', /^Expected a single 'points' for a parameter of lbp/],
  ['sift', /^Expected one of .* for the kernel but received 'sift'$/],
];
for (const [text, sentence] of malformed) {
  test(`--op ${text} is refused with one sentence`, () => {
    assert.throws(() => parseOperation(text), { message: sentence });
  });
}
