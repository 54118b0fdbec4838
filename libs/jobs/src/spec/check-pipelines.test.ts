import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JobSpec } from '@halogrid/proto';
import { Refusal } from '../refusal.ts';
import { checkPipelines } from './check-pipelines.ts';

const pipeline = { operations: [{ kernel: 'lbp', parameters: {}, border: '' }] };
const colour = { operations: [{ kernel: 'conv', parameters: { kernel: 'sobel', channels: 'rgb' }, border: '' }] };
const names = (...list: string[]) => ({ pipelines: { named: list.map((name) => ({ name, pipeline })) } });

test('named pipelines get every parameter, and stay in order', () => {
  const { fields, pipelines } = checkPipelines(JobSpec.fromPartial(names('b', 'A-1_x')));
  assert.equal(pipelines.length, 2);
  assert.equal(fields.pipeline, undefined);
  assert.deepEqual(
    fields.pipelines!.named.map(({ name }) => name),
    ['b', 'A-1_x'],
  );
  const [operation] = fields.pipelines!.named[1]!.pipeline!.operations;
  assert.deepEqual([operation!.border, operation!.parameters.convention], ['interior', 'nw-cw-msb']);
});

const refused: [what: string, spec: Parameters<typeof JobSpec.fromPartial>[0], why: RegExp][] = [
  ['no pipelines', names(), /^Expected 1 to 8 for the number of pipelines\.named but received '0'$/],
  ['nine pipelines', names(...'abcdefghi'), /^Expected 1 to 8 for the number of pipelines\.named but received '9'$/],
  ['both kinds', { ...names('a'), pipeline }, /^Expected pipeline or pipelines but received both$/],
  [
    'one name twice',
    names('a', 'A'),
    /^Expected a name that no other has, also with other case, for pipelines\.named\[1\]\.name but received 'A'$/,
  ],
  ['a name that leads elsewhere', names('../a'), /^Expected letters, digits, .* received '\.\.\/a'$/],
  ['a name of 65 letters', names('a'.repeat(65)), /^Expected letters, digits, /],
  ['a name that is an option', names('-a'), /^Expected letters, digits, /],
  [
    'other channels',
    {
      pipelines: {
        named: [
          { name: 'gray', pipeline },
          { name: 'colour', pipeline: colour },
        ],
      },
    },
    /^Expected pipelines\.named of the same channels, .* 'gray' takes gray and 'colour' red, green, blue$/,
  ],
];
for (const [what, spec, message] of refused) {
  test(`${what} is refused with a sentence`, () => {
    assert.throws(
      () => checkPipelines(JobSpec.fromPartial(spec)),
      (error: Error) => {
        assert.ok(error instanceof Refusal);
        assert.match(error.message, message);
        return true;
      },
    );
  });
}
