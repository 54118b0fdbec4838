import { completed, joined, lease, testCases, verified } from './testing/scheduler-cases.ts';

// Results are verified before they count.

testCases([
  {
    name: 'a sampled shard does not count before the reference has answered',
    given: [joined(1, 1), ...verified(1)],
    when: completed(1, lease(0)),
    expected: ['lease job/0#2 to 1 (check, by the reference)'],
  },
  {
    name: 'the reference of another node is preferred',
    given: [joined(1, 1), ...verified(1), joined(2, 1)],
    when: completed(1, lease(0)),
    expected: ['lease job/0#2 to 2 (check, by the reference)'],
  },
  {
    name: 'an answer that the reference confirms is committed as the device gave it',
    given: [joined(1, 1), ...verified(1), completed(1, lease(0))],
    when: completed(1, lease(0, 2)),
    expected: ['commit job/0#1 of 1'],
  },
  {
    name: 'if two answers differ, neither is believed',
    given: [joined(1, 1), ...verified(1), joined(2, 1), joined(3, 1), completed(1, lease(0), 'wrong')],
    when: completed(2, lease(0, 2)),
    expected: ['node-1, node-2 differ on job/0', 'lease job/0#3 to 3 (check, by the reference)'],
  },
  {
    name: 'a node that two answers contradict is sent away for good, and its work is done again',
    given: [
      ...[joined(1, 2), ...verified(2), joined(2, 1), joined(3, 1)],
      ...[completed(1, lease(0), 'wrong'), completed(2, lease(0, 2))],
    ],
    when: completed(3, lease(0, 3)),
    expected: [
      'node-1 was wrong on job/0#1',
      'lost job/1#1 of node-1',
      'drop 1 for good',
      'lease job/1#2 to 2 (lost)',
      'lease job/0#4 to 3 (check)',
    ],
  },
  {
    name: 'a result that only the reference has is computed again by a device, whose chunks overwrite the wrong ones',
    given: [
      ...[joined(1, 1), ...verified(1), joined(2, 1), joined(3, 1), completed(1, lease(0), 'wrong')],
      ...[completed(2, lease(0, 2)), completed(3, lease(0, 3))],
    ],
    when: completed(2, lease(0, 4)),
    expected: ['commit job/0#4 of 2'],
  },
  {
    name: 'a node that was wrong may not come back under the same id',
    given: [
      ...[joined(1, 1), ...verified(1), completed(1, lease(0), 'wrong')],
      ...[completed(1, lease(0, 2)), completed(1, lease(0, 3))],
    ],
    when: joined(2, 1, 'node-1'),
    expected: ['drop 2 for good'],
  },
]);
