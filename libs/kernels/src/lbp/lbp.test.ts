import assert from 'node:assert/strict';
import test from 'node:test';
import { createPipeline, describePipeline, parseOperation } from '../pipeline/pipeline.ts';
import { lbpConventionNames } from './conventions.ts';

const pipelineOf = (op: string) => createPipeline([parseOperation(op)]);

test('parameters are filled in and put in canonical form', () => {
  const table: [op: string, line: string][] = [
    ['lbp', 'lbp:convention=nw-cw-msb,labels=all,points=8,radius=1 border=interior'],
    ['lbp:radius=1.0,points=08', 'lbp:convention=nw-cw-msb,labels=all,points=8,radius=1 border=interior'],
    ['lbp:labels=uniform', 'lbp:convention=nw-cw-msb,labels=uniform,points=8,radius=1 border=interior'],
    ['lbp:radius=2', 'lbp:convention=scikit-image,labels=all,points=8,radius=2 border=zero'],
    ['lbp:points=16', 'lbp:convention=scikit-image,labels=all,points=16,radius=1 border=zero'],
    ['lbp:radius=0.50', 'lbp:convention=scikit-image,labels=all,points=8,radius=0.5 border=zero'],
    ['lbp:radius=0.00001', 'lbp:convention=scikit-image,labels=all,points=8,radius=0.00001 border=zero'],
    ['lbp:convention=opencv', 'lbp:convention=opencv,labels=all,points=8,radius=1 border=interior'],
    ['lbp:convention=bob', 'lbp:convention=bob,labels=all,points=8,radius=1 border=interior'],
    ['lbp:convention=bob-circular', 'lbp:convention=bob-circular,labels=all,points=8,radius=1 border=interior'],
    ['lbp:convention=mahotas', 'lbp:convention=mahotas,labels=ror,points=8,radius=1 border=zero'],
  ];
  for (const [op, line] of table) assert.equal(describePipeline(pipelineOf(op)), line);
});

test('the type and the bins follow from the labels', () => {
  const table: [op: string, sample: string, bins: number][] = [
    ['lbp', 'u8', 256],
    ['lbp:points=4', 'u8', 16],
    ['lbp:points=9', 'u16', 512],
    ['lbp:points=16,labels=ror', 'u16', 65536],
    ['lbp:points=17', 'u32', 0],
    ['lbp:points=24,labels=ror', 'u32', 0],
    ['lbp:labels=uniform', 'u8', 10],
    ['lbp:points=24,labels=uniform', 'u8', 26],
    ['lbp:labels=nri-uniform', 'u8', 59],
    ['lbp:points=16,labels=nri-uniform', 'u8', 243],
    ['lbp:points=17,labels=nri-uniform', 'u16', 275],
    ['lbp:points=24,labels=nri-uniform', 'u16', 555],
    ['lbp:labels=var', 'f32', 0],
  ];
  for (const [op, sample, bins] of table) {
    const { output, bins: ours } = pipelineOf(op);
    assert.deepEqual([op, output.sample, ours], [op, sample, bins]);
  }
});

test('values that no convention has, or that the chosen one lacks, are refused in one sentence', () => {
  const table: [op: string, message: string][] = [
    ['lbp:size=3', "Expected one of convention, points, radius, labels for a parameter of lbp but received 'size'"],
    [
      'lbp:convention=matlab',
      `Expected one of ${lbpConventionNames.join(', ')} for lbp:convention but received 'matlab'`,
    ],
    ['lbp:points=3', "Expected a whole number from 4 to 24 for lbp:points but received '3'"],
    ['lbp:points=25', "Expected a whole number from 4 to 24 for lbp:points but received '25'"],
    ['lbp:points=8.5', "Expected a whole number from 4 to 24 for lbp:points but received '8.5'"],
    ['lbp:points=', "Expected a whole number from 4 to 24 for lbp:points but received ''"],
    ...['0', '-1', '16.00001', '1e1', 'NaN', 'two', '0.000001', ''].map((radius): [string, string] => [
      `lbp:radius=${radius}`,
      `Expected a number above 0, at most 16, of at most five decimals, for lbp:radius but received '${radius}'`,
    ]),
    ['lbp:labels=riu2', "Expected one of all, ror, uniform, nri-uniform, var for lbp:labels but received 'riu2'"],
    ['lbp:convention=nw-cw-msb,points=16', "Expected 8 with convention=nw-cw-msb for lbp:points but received '16'"],
    ['lbp:convention=nw-cw-lsb,radius=2', "Expected 1 with convention=nw-cw-lsb for lbp:radius but received '2'"],
    [
      'lbp:convention=opencv,labels=uniform',
      "Expected all with convention=opencv for lbp:labels but received 'uniform'",
    ],
    [
      'lbp:convention=opencv,radius=1.5',
      "Expected a whole number from 1 to 16 with convention=opencv for lbp:radius but received '1.5'",
    ],
    [
      'lbp:convention=bob,points=17',
      "Expected a whole number from 4 to 16 with convention=bob for lbp:points but received '17'",
    ],
    [
      'lbp:convention=bob,radius=1.5',
      "Expected a whole number from 1 to 16 with convention=bob for lbp:radius but received '1.5'",
    ],
    [
      'lbp:convention=bob-circular,points=12,labels=uniform',
      "Expected 4, 8 or 16 with convention=bob-circular for lbp:points but received '12'",
    ],
    [
      'lbp:convention=bob,labels=var',
      "Expected one of all, ror, uniform, nri-uniform with convention=bob for lbp:labels but received 'var'",
    ],
    ['lbp:convention=mahotas,labels=all', "Expected ror with convention=mahotas for lbp:labels but received 'all'"],
  ];
  for (const [op, message] of table) {
    assert.throws(() => pipelineOf(op), { name: 'ParameterError', message });
  }
});

test('only 8-bit labels can be the input of another kernel', () => {
  const chain = (op: string) => createPipeline([parseOperation(op), parseOperation('lbp')]);
  assert.equal(chain('lbp:points=16,labels=uniform').bins, 256);
  assert.throws(() => chain('lbp:points=16'), /Expected u8 gray for the input of kernel 2 .* but received '.*u16 gray/);
});
