import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseGpus, firstGpus, parseGpuChoice } from './choose-gpus.ts';

const gpu = (minor: number) => ({ busId: `0000:0${minor}:00.0`, uuid: undefined, model: 'NVIDIA L4', minor });
const three = { visible: [gpu(2), gpu(0), gpu(1)], hidden: [] };
const oneOfTwo = { visible: [gpu(0)], hidden: [gpu(1)] };

test('an index counts the cards that this process sees', () => {
  assert.deepEqual(chooseGpus(1, three), [{ index: 1, gpu: gpu(0) }]);
  assert.deepEqual(
    chooseGpus('all', three).map(({ gpu: { minor } }) => minor),
    [2, 0, 1],
  );
  assert.deepEqual(chooseGpus('all', oneOfTwo), [{ index: 0, gpu: gpu(0) }]);
  assert.deepEqual(
    firstGpus(2, three).map(({ index, gpu: { minor } }) => [index, minor]),
    [
      [0, 2],
      [1, 0],
    ],
  );
});

const refused: [string, () => unknown, RegExp][] = [
  [
    'no driver',
    () => chooseGpus('all', undefined),
    /^There is no NVIDIA driver here \(\/proc\/driver\/nvidia\/gpus is not there\)$/,
  ],
  [
    'no card',
    () => chooseGpus(0, { visible: [], hidden: [] }),
    /^There is no GPU to take: NVIDIA's driver lists no GPU$/,
  ],
  [
    'a container without cards',
    () => chooseGpus('all', { visible: [], hidden: [gpu(0), gpu(1)] }),
    /sees no GPU; 2 GPUs of the machine cannot be opened here$/,
  ],
  ['an index past the last', () => chooseGpus(3, three), /^There is no GPU 3 here: this process sees 3 GPUs$/],
  [
    'an index that a container hides',
    () => chooseGpus(1, oneOfTwo),
    /sees 1 GPU; 1 GPU of the machine cannot be opened here$/,
  ],
  ['more than there are', () => firstGpus(4, three), /^Expected 4 GPUs but this process sees 3 GPUs$/],
];

for (const [name, choose, sentence] of refused) {
  test(`${name} is refused with a sentence`, () => assert.throws(choose, { message: sentence }));
}

test('--gpu is auto, all, an index or a UUID', () => {
  const table: [string, unknown][] = [
    ['all', 'all'],
    ['0', 0],
    ['15', 15],
    ['-1', undefined],
    ['1,2', undefined],
    ['', undefined],
    ['ALL', undefined],
    ['auto', 'auto'],
    ['GPU-0c39d8a0-1111', { uuid: 'GPU-0c39d8a0-1111' }],
    ['GPU-', undefined],
    ['MIG-0c39d8a0', undefined],
  ];
  for (const [text, expected] of table) assert.deepEqual(parseGpuChoice(text), expected, text);
});
