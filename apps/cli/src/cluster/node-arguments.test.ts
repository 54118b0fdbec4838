import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodeArguments } from './gpu-nodes.ts';

const pin = { index: 2, gpu: { busId: '0000:2d:00.0', uuid: undefined, model: 'NVIDIA H200', minor: 0 } };
const pinned = ['--pinned-gpu', '0000:2d:00.0', '--name', 'host-gpu-2'];

test('a duration until the end of a node is counted once', () => {
  const until = Date.UTC(2026, 0, 31, 8);
  assert.deepEqual(nodeArguments(['node', '--until', '90m', '--gpu', 'all'], pin, 0, { name: 'host', until }), [
    'node',
    ...pinned,
    '--until',
    '2026-01-31T08:00:00.000Z',
  ]);
});

const table: [string[], string | undefined, string[]][] = [
  [['node', '--gpu', 'all'], undefined, ['node', ...pinned]],
  [
    ['node', '--coordinator', 'a:1,b:1', '--gpu=all', '--name=host', '--log-level', 'debug'],
    undefined,
    ['node', '--coordinator', 'a:1,b:1', '--log-level', 'debug', ...pinned],
  ],
  [
    ['node', '--http', '0.0.0.0:9465', '--gpu', '2', '--insecure-network'],
    '0.0.0.0:9465',
    ['node', '--insecure-network', ...pinned, '--http', '0.0.0.0:9466'],
  ],
  [['node', '--http=[::1]:0', '--gpu', '2'], '[::1]:0', ['node', ...pinned, '--http', '[::1]:0']],
];

for (const [args, http, expected] of table) {
  test(`the second node of: halogrid ${args.join(' ')}`, () => {
    assert.deepEqual(nodeArguments(args, pin, 1, { name: 'host', http }), expected);
  });
}
