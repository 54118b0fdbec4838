import assert from 'node:assert/strict';
import test from 'node:test';
import { createPipeline, parseOperation } from '../pipeline/pipeline.ts';
import { glcm } from './glcm.ts';
import { offsetsTogether } from './glcm-gpu.ts';

test('32 levels, the four neighbours of distance 1 and no symmetry by default', () => {
  const complete = { levels: '32', offsets: '1@0+1@45+1@90+1@135', symmetric: 'false' };
  assert.deepEqual(glcm.complete({}), complete);
  const given = parseOperation('glcm:levels=008,offsets=05@000+1@045,symmetric=true').parameters;
  assert.deepEqual(glcm.complete(given), { levels: '8', offsets: '5@0+1@45', symmetric: 'true' });
});

test('the result is a band of codes and a matrix for each offset, of the interior by default', () => {
  const { output, bins, convention, operations, words } = createPipeline([
    { kernel: 'glcm', parameters: { offsets: '2@0+3@135+1@90' } },
  ]);
  assert.deepEqual(output, { sample: 'u16', channels: ['2@0', '3@135', '1@90'] });
  assert.equal(bins, 1024);
  assert.equal(convention, 'scikit-image');
  assert.equal(operations[0]!.border, 'interior');
  assert.equal(operations[0]!.halo, 2);
  assert.deepEqual(words.channels, [
    'pairs of the pixels at (x, y) and (x + 2, y)',
    'pairs of the pixels at (x, y) and (x - 2, y + 2)',
    'pairs of the pixels at (x, y) and (x, y + 1)',
  ]);
  assert.equal(glcm.output(glcm.parse(glcm.complete({ levels: '16' }))).sample, 'u8');
  assert.equal(glcm.output(glcm.parse(glcm.complete({ levels: '17' }))).sample, 'u16');
});

// round(d sin 45°) and round(d cos 45°) of scikit-image 0.20.
const diagonals = [0, 1, 1, 2, 3, 4, 4, 5, 6, 6, 7, 8, 8, 9, 10, 11, 11];
test('diagonal steps are rounded to the nearest pixel', () => {
  for (const [distance, step] of diagonals.entries()) {
    if (distance === 0) continue;
    const offsets = [45, 135, 225, 315].map((angle) => `${distance}@${angle}`).join('+');
    assert.deepEqual(glcm.parse(glcm.complete({ offsets })).steps, [
      { x: step, y: step },
      { x: -step, y: step },
      { x: -step, y: -step },
      { x: step, y: -step },
    ]);
  }
});

for (const levels of ['1', '65', '0', '-3', '2.5', '3x', '', ' 3', '1e1', 'many', 'NaN']) {
  test(`'${levels}' levels are refused`, () => {
    assert.throws(() => glcm.complete({ levels }), {
      name: 'ParameterError',
      message: `Expected an integer from 2 to 64 for glcm:levels but received '${levels}'`,
    });
  });
}

const tooMany = Array.from({ length: 17 }, (_, i) => `${i + 1}@0`).join('+');
for (const offsets of ['', '1', '1@30', '0@0', '65@0', '1@360', '-1@0', '1@0+', '1@0 1@45', '1@0+01@0', tooMany]) {
  test(`offsets '${offsets}' are refused`, () => {
    assert.throws(
      () => glcm.complete({ offsets }),
      new RegExp(
        /^ParameterError: Expected up to 16 different offsets DISTANCE@ANGLE joined by '\+', as 1@0\+1@45, /.source +
          /with distances from 1 to 64 pixels and the angles 0, 45, 90, 135, 180, 225, 270, 315, /.source +
          /for glcm:offsets but received /.source,
      ),
    );
  });
}

test('other words and parameters are refused', () => {
  assert.throws(() => glcm.complete({ symmetric: 'yes' }), {
    message: "Expected one of false, true for glcm:symmetric but received 'yes'",
  });
  assert.throws(() => glcm.complete({ angles: '0' }), {
    message: "Expected one of levels, offsets, symmetric for a parameter of glcm but received 'angles'",
  });
});

test('workgroups compute equally many offsets, whose matrices fit 8 KiB, or one that fits 16 KiB', () => {
  const cases: [levels: number, offsets: number, together: number][] = [
    [32, 4, 2],
    [32, 5, 1],
    [20, 6, 3],
    [64, 4, 1],
    [28, 4, 2],
    [8, 16, 16],
    [2, 1, 1],
  ];
  for (const [levels, offsets, together] of cases) assert.equal(offsetsTogether(levels, offsets), together);
});
