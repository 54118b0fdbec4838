import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isBadNode, NodeHealth } from './node-health.ts';

/** A node's answers, the oldest first: '+' for a result, '-' for a failure. */
function health(answers: string): NodeHealth {
  const node = new NodeHealth();
  for (const answer of answers) node.add(answer === '-');
  return node;
}

const table: [node: string, others: string[], isBad: boolean][] = [
  ['----', ['++++'], false],
  ['-----', ['+'], true],
  ['-----', [], false],
  ['-----', [''], false],
  ['-----', ['-----'], false],
  ['-----', ['-----', '-----', '+'], true],
  ['-+-+-+-+-+', ['++++++++++'], true],
  ['-+-+-+-+-+', ['++++++++--'], true],
  ['-+-+-+-+-+', ['+++++++---'], false],
  ['-+-+-+-+-+', ['-+-+-+-+-+', '+-+-+-+-+-'], false],
  ['-----++++++', ['++++++++++'], false],
];

for (const [node, others, isBad] of table) {
  test(`a node of ${node} beside ${others.join(' and ') || 'none'} is ${isBad ? '' : 'not '}bad`, () => {
    assert.equal(isBadNode(health(node), others.map(health)), isBad);
  });
}

test('a node is set aside twice as long each time, up to ten minutes, until it has done well for long', () => {
  const node = new NodeHealth();
  const times = Array.from({ length: 7 }, () => node.setAside(1000) / 1000);
  assert.deepEqual(times, [30, 60, 120, 240, 480, 600, 600]);
  assert.ok(node.isAside(600_999) && !node.isAside(601_000));
  for (let i = 0; i < 100; i++) node.add(false);
  assert.equal(node.setAside(0), 30_000);
});
