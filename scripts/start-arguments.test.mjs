import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startArguments } from './start-arguments.mjs';

const table = [
  [[], ['run', '--nodes', '2', 'SAMPLES']],
  [['a.png'], ['run', '--nodes', '2', 'a.png']],
  [['--json'], ['run', '--nodes', '2', '--json', 'SAMPLES']],
  [
    ['--device', 'cpu'],
    ['run', '--nodes', '2', '--device', 'cpu', 'SAMPLES'],
  ],
  [
    ['--device=cpu', 'a.png'],
    ['run', '--nodes', '2', '--device=cpu', 'a.png'],
  ],
  [
    ['--json', 'a.png'],
    ['run', '--nodes', '2', '--json', 'a.png'],
  ],
  [
    ['--nodes', '3', 'a.png'],
    ['run', '--nodes', '2', '--nodes', '3', 'a.png'],
  ],
];

for (const [given, expected] of table) {
  test(`npm start -- ${given.join(' ')}`, () => assert.deepEqual(startArguments(given, ['SAMPLES']), expected));
}
