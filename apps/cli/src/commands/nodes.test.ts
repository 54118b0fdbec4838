import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NodeStatus } from '@halogrid/proto';
import { describeNodes } from './nodes.ts';

const node = (more: Parameters<typeof NodeStatus.fromPartial>[0]): NodeStatus =>
  NodeStatus.fromPartial({ name: 'left', device: { kind: 'cpu', name: 'any' }, softwareVersion: '1', ...more });

test('a node has a line, and a line below for each thing that it cannot do', () => {
  const lacks = [
    { need: 'read file:///data/archive', reason: 'EACCES: permission denied', sinceMs: 1 },
    { need: 'decode video', reason: '', sinceMs: 1 },
  ];
  assert.deepEqual(describeNodes([node({ lacks, leases: 2 }), node({ name: 'right', draining: true })]).split('\n'), [
    'NODE   KIND  DEVICE  GPU  STATE     LEASES  SHARDS  PIXELS  VERSION',
    'left   cpu   any          ready     2       0       0 px    1',
    'right  cpu   any          draining  0       0       0 px    1',
    'left cannot read /data/archive: EACCES: permission denied',
    'left cannot decode videos',
    '',
  ]);
});

test('a node that is set aside says until when', () => {
  const setAsideUntilMs = Date.UTC(2026, 0, 2, 3, 4, 5);
  const line = (nowMs?: number) => describeNodes([node({ setAsideUntilMs })], nowMs).split('\n')[1]!;
  assert.match(line(), / set aside until 2026-01-02T03:04:05\.000Z /);
  assert.match(line(setAsideUntilMs - 125_000), / set aside for 2 min 05 s /);
});

test('without nodes there is a hint', () => assert.match(describeNodes([]), /^No nodes; 'halogrid node' starts one/));
