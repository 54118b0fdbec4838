import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  acknowledge,
  again,
  attach,
  disconnected,
  done,
  drained,
  failed,
  greet,
  lease,
  options,
  type Played,
  playFor,
  recall,
  stop,
  testRows,
  time,
  welcomeBack,
  work,
} from './testing/played-conversation.ts';

testRows('a node that leaves its coordinator', [
  ['stopping before a connection ends at once', [[0, stop]], 'ended', ['end 0: SIGTERM']],
  ['stopping while greeting hangs up', [...greet, [5, stop]], 'ended', ['hangUp', 'end 0: SIGTERM']],
  [
    'stopping without a connection dials once more if it holds a shard',
    [...work, [40, disconnected], [50, stop], [50, time]],
    'greeting',
    ['dial a:1', 'send hello'],
  ],
  [
    'that coordinator is told that the node leaves',
    [...again, [170, stop], [180, welcomeBack(8)]],
    'attached',
    ['forget 1', 'send draining'],
  ],
  [
    'the node leaves after the shards that it wants',
    [...again, [170, stop], [180, welcomeBack(8)], [190, drained], [200, failed]],
    'leaving',
    ['send failed', 'closeStream'],
  ],
  [
    'without a coordinator it ends with its shards',
    [...again, [170, stop], [180, disconnected]],
    'ended',
    ['forget 1', 'forget 2', 'hangUp', 'end 0: SIGTERM'],
  ],
  [
    'a coordinator that does not welcome it cannot keep it',
    [...again, [170, stop], [10_165, time]],
    'ended',
    ['hangUp', 'forget 1', 'forget 2', 'hangUp', 'end 0: SIGTERM'],
  ],
  ['stopping is announced', [...attach, [20, stop]], 'attached', ['send draining']],
  ['stopping twice is announced once', [...attach, [20, stop], [21, stop]], 'attached', []],
  ['an idle node leaves once it is told so', [...attach, [20, stop], [25, drained]], 'leaving', ['closeStream']],
  ['a busy node stays', [...attach, [15, lease(7)], [20, stop], [25, drained]], 'attached', []],
  [
    'a busy node leaves after its last result',
    [...attach, [15, lease(7)], [20, stop], [25, drained], [30, done]],
    'leaving',
    ['send completed', 'closeStream'],
  ],
  ['a lease that crossed the announcement is taken', [...attach, [20, stop], [22, lease(7)]], 'attached', ['start 1']],
  [
    'a message that crossed the announcement does not answer it: more leases may be on their way',
    [...attach, [15, lease(7)], [20, stop], [22, acknowledge], [30, done]],
    'attached',
    ['send completed'],
  ],
  [
    'a busy node goes on as long as a container is given to stop',
    [...attach, [15, lease(7)], [20, stop], [25, drained], [2000, acknowledge], [4900, acknowledge], [7000, time]],
    'attached',
    ['send heartbeat'],
  ],
  [
    'shards that it cannot finish by then are handed back',
    [...attach, [15, lease(7)], [20, stop], [25, drained], [6000, acknowledge], [8020, time]],
    'leaving',
    ['forget 1', 'send returned', 'closeStream'],
  ],
  [
    'a coordinator that never answers the announcement does not keep the node',
    [...attach, [20, stop], [2000, acknowledge], [4900, acknowledge], [7000, acknowledge], [8020, time]],
    'leaving',
    ['closeStream'],
  ],
  [
    'a recall of its last shard lets it leave',
    [...attach, [15, lease(7)], [20, stop], [24, drained], [25, recall('j')]],
    'leaving',
    ['forget 1', 'closeStream'],
  ],
  ['the coordinator can tell it to stop', [...attach, [20, drained]], 'attached', ['send draining']],
  [
    'it ends when the stream is closed',
    [...attach, [20, stop], [25, drained], [30, disconnected]],
    'ended',
    ['hangUp', 'end 0: SIGTERM'],
  ],
  [
    'it does not wait for that forever',
    [...attach, [20, stop], [25, drained], [3025, time]],
    'ended',
    ['hangUp', 'end 0: SIGTERM'],
  ],
  [
    'its last answers may be on their way for longer: the coordinator takes one after another',
    [...attach, [20, stop], [25, drained], [3000, acknowledge], [5999, time]],
    'leaving',
    [],
  ],
  [
    'a coordinator that then falls silent does not keep it',
    [...attach, [20, stop], [25, drained], [3000, acknowledge], [6000, time]],
    'ended',
    ['hangUp', 'end 0: SIGTERM'],
  ],
  [
    'losing the coordinator while draining ends it',
    [...work, [40, stop], [50, disconnected]],
    'ended',
    ['forget 1', 'forget 2', 'hangUp', 'end 0: SIGTERM'],
  ],
]);

for (const drainTimeoutMs of [0, 2_500, 600_000]) {
  test(`with a drain timeout of ${drainTimeoutMs} ms, shards are handed back after that time`, () => {
    const events: Played[] = [...attach, [15, lease(7)], [20, stop], [20, drained]];
    const { state } = playFor({ ...options, drainTimeoutMs }, ...events);
    assert.equal(state.handBackMs, 20 + drainTimeoutMs);
  });
}
