import assert from 'node:assert/strict';
import test from 'node:test';
import { createPipeline } from '../pipeline/pipeline.ts';
import { derivativeCoefficients, ldp } from './ldp.ts';

test('the order is 3 by default, and is the halo', () => {
  assert.deepEqual(ldp.complete({}), { order: '3' });
  assert.deepEqual(ldp.complete({ order: '06' }), { order: '6' });
  assert.deepEqual(
    ['2', '3', '6'].map((order) => ldp.halo(ldp.parse({ order }))),
    [2, 3, 6],
  );
});

test('the result is four 8-bit bands with a histogram each, of the interior by default', () => {
  const { output, bins, convention, operations } = createPipeline([{ kernel: 'ldp', parameters: {} }]);
  assert.deepEqual(output, { sample: 'u8', channels: ['0', '45', '90', '135'] });
  assert.equal(bins, 256);
  assert.equal(convention, 'zhang-nw-cw-msb');
  assert.equal(operations[0]!.border, 'interior');
});

for (const order of ['1', '7', '0', '-3', '2.5', '3x', '', ' 3', '1e1', 'three', 'NaN']) {
  test(`an order of '${order}' is refused`, () => {
    assert.throws(() => ldp.complete({ order }), {
      name: 'ParameterError',
      message: `Expected an integer from 2 to 6 for ldp:order but received '${order}'`,
    });
  });
}

test('an unknown parameter is refused', () => {
  assert.throws(() => ldp.complete({ points: '8' }), {
    message: `Expected order for a parameter of ldp but received 'points'`,
  });
});

test('coefficients are binomial with alternating signs', () => {
  assert.deepEqual([2, 3, 4, 5, 6].map(derivativeCoefficients), [
    [1, -1],
    [1, -2, 1],
    [1, -3, 3, -1],
    [1, -4, 6, -4, 1],
    [1, -5, 10, -10, 5, -1],
  ]);
});
