import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Lease, sinceProtocol } from '@halogrid/proto';
import { converse, nextWakeMs } from './conversation.ts';
import { type Conversation, type ConversationEvent, heldBytes, startConversation } from './conversation-state.ts';
import {
  acknowledge,
  again,
  attach,
  completed,
  disconnected,
  done,
  failed,
  greet,
  hello,
  inPart,
  lease,
  type Order,
  options,
  ordered,
  type Played,
  play,
  recall,
  stop,
  testRows,
  time,
  welcome,
  welcomeBack,
  welcomeIn,
  words,
  work,
} from './testing/played-conversation.ts';

const earlier = sinceProtocol.inPart - 1;
/** The node dials in vain, the last time at 59,000 ms; that connection ends 1 ms before the minute is over. */
const alone: Played[] = [...work, [40, disconnected], [59_000, time], [60_039, disconnected]];
const otherAttempt = ordered({
  $case: 'welcome',
  value: {
    epoch: 5,
    httpPort: 9464,
    protocol: 0,
    kept: [{ jobId: 'j', shard: 7, attempt: 1, epoch: 5, verify: false, inPart: false }],
  },
});

testRows('the conversation with the coordinator', [
  ['it dials and says hello', greet, 'greeting', ['dial a:1', 'send hello']],
  ['it is attached once welcomed', attach, 'attached', []],
  ['a lease before the welcome is not taken', [...greet, [5, lease(1)]], 'greeting', []],
  ['a lease starts a shard', [...attach, [20, lease(7)]], 'attached', ['start 1']],
  ['leases are numbered apart', work, 'attached', ['start 2']],
  ['a result is sent', [...work, [40, done]], 'attached', ['send completed']],
  ['a shard in a part is told', [...work, [40, inPart]], 'attached', ['send inPart']],
  ['what is in a part is answered', [...work, [40, inPart], [50, done]], 'attached', ['send completed']],
  [
    'an answer that may be lost is sent again if the next coordinator wants it',
    [...work, [40, done], [50, disconnected], [175, time], [180, welcomeBack(7, 8)]],
    'attached',
    ['send inPart', 'send completed'],
  ],
  [
    'it may be lost once more',
    [
      ...work,
      [40, done],
      [50, disconnected],
      [175, time],
      [180, welcomeBack(7, 8)],
      [190, disconnected],
      [320, time],
      [330, welcomeBack(7, 8)],
    ],
    'attached',
    ['send inPart', 'send completed'],
  ],
  [
    'an answer that the next coordinator has is dropped, and no shard is stopped for it',
    [...work, [40, done], [50, disconnected], [175, time], [180, welcomeBack(8)]],
    'attached',
    [],
  ],
  ['a forgotten shard is in no part', [...work, [40, recall('j', 7)], [50, inPart]], 'attached', []],
  ['what is in a part waits for a connection', [...work, [40, disconnected], [50, inPart]], 'waiting', []],
  [
    'what came into a part is not told to an earlier version',
    [...again, [168, inPart], [170, welcomeIn(earlier, 7, 8)]],
    'attached',
    [],
  ],
  ['what came into a part is told', [...again, [168, inPart], [170, welcomeBack(7, 8)]], 'attached', ['send inPart']],
  ['a failure is sent', [...work, [40, failed]], 'attached', ['send failed']],
  ['a result is sent once', [...work, [40, done], [41, done]], 'attached', []],
  ['a recalled shard is forgotten', [...work, [40, recall('j', 8)]], 'attached', ['forget 2']],
  ['a recalled job is forgotten', [...work, [40, recall('j')]], 'attached', ['forget 1', 'forget 2']],
  ['another job stays', [...work, [40, recall('k')]], 'attached', []],
  ['a forgotten result is not sent', [...work, [40, recall('j', 7)], [50, done]], 'attached', []],
  ['nothing is said before a third of the deadline', [...attach, [1009, time]], 'attached', []],
  ['a heartbeat is sent after a third', [...attach, [1010, time]], 'attached', ['send heartbeat']],
  ['a result counts as a report', [...work, [900, done], [1010, time]], 'attached', []],
  ['silence ends the connection', [...work, [3030, time]], 'waiting', ['hangUp']],
  ['shards outlive a lost connection', [...work, [40, disconnected]], 'waiting', []],
  ['an answer waits for a connection', [...work, [40, disconnected], [50, done]], 'waiting', []],
  ['it comes back with its shards', again, 'greeting', ['dial a:1', 'send hello']],
  ['a shard that the welcome names goes on', [...again, [170, welcomeBack(7)]], 'attached', ['forget 2']],
  [
    'a shard answered meanwhile is reported',
    [...again, [150, done], [170, welcomeBack(7, 8)]],
    'attached',
    ['send completed'],
  ],
  [
    'a shard failed meanwhile is reported',
    [...again, [150, failed], [170, welcomeBack(7, 8)]],
    'attached',
    ['send failed'],
  ],
  ['unwanted answers are not sent', [...again, [150, done], [170, welcome]], 'attached', ['forget 1', 'forget 2']],
  ['another attempt of a shard is unwanted', [...again, [170, otherAttempt]], 'attached', ['forget 1', 'forget 2']],
  [
    'a shard that goes on can be answered',
    [...again, [170, welcomeBack(7)], [180, done]],
    'attached',
    ['send completed'],
  ],
  ['after a minute alone it forgets its shards', [...alone, [60_040, time]], 'waiting', ['forget 1', 'forget 2']],
  ['before that minute ends it keeps them', [...alone, [60_039, time]], 'waiting', []],
  ['it waits before it dials again', [...greet, [10, disconnected], [134, time]], 'waiting', []],
  ['it dials again', [...greet, [10, disconnected], [135, time]], 'greeting', ['dial a:1', 'send hello']],
  [
    'a coordinator that was there is dialled again at once',
    [...greet, [10, disconnected], [135, time], [140, welcome], [200, disconnected], [325, time]],
    'greeting',
    ['dial a:1', 'send hello'],
  ],
  ['a greeting without answer is given up', [...greet, [10_000, time]], 'waiting', ['hangUp']],
  [
    'a node that is refused ends',
    [...greet, [10, { ...disconnected, reason: 'Protocol 2 is spoken here', isRefusal: true }]],
    'ended',
    ['hangUp', 'end 1: The coordinator refuses this node: Protocol 2 is spoken here'],
  ],
  [
    'a node without a device ends',
    [...work, [40, { kind: 'deviceGone', reason: 'No GPU is left.' }]],
    'ended',
    ['forget 1', 'forget 2', 'hangUp', 'end 1: No GPU is left.'],
  ],
  [
    'nothing happens after the end',
    [
      [0, stop],
      [1, welcome],
      [2, time],
    ],
    'ended',
    [],
  ],
]);

test('an answer carries the identity of its lease', () => {
  const { commands } = play(...work, [40, failed]);
  const value = {
    jobId: 'j',
    shard: 8,
    attempt: 2,
    epoch: 4,
    error: 'No device.',
    output: false,
    device: true,
    need: '',
  };
  assert.deepEqual(commands, [{ kind: 'send', report: { $case: 'failed', value } }]);
});

test('hello names shards whose answers may be lost, but neither failures nor what the coordinator had time to record', () => {
  const named = (...events: Played[]) => {
    const { commands } = play(...events, [20_000, disconnected], [20_125, time]);
    const report = commands.flatMap((command) => (command.kind === 'send' ? [command.report] : []))[0];
    assert.equal(report?.$case, 'hello');
    return report.value.held?.map(({ shard, inPart }) => [shard, inPart]);
  };
  assert.deepEqual(named(...work, [40, done]), [
    [8, false],
    [7, true],
  ]);
  assert.deepEqual(named(...work, [40, { ...failed, leaseId: 1 }]), [[8, false]]);
  assert.deepEqual(named(...work, [40, done], [6_000, acknowledge]), [[8, false]]);
});

test('hello names the held shards, and an answer has the epoch that the welcome gave', () => {
  const { commands } = play(...again);
  const held = [7, 8].map((shard) => ({ jobId: 'j', shard, attempt: 2, epoch: 4, verify: false, inPart: false }));
  assert.deepEqual(commands.at(-1), { kind: 'send', report: { $case: 'hello', value: { ...hello, held } } });
  const answered = play(...again, [150, { ...done, report: { ...completed, epoch: 4 } }], [170, welcomeBack(7)]);
  assert.deepEqual(answered.commands.at(-1), {
    kind: 'send',
    report: { $case: 'completed', value: { ...completed, epoch: 5 } },
  });
});

test('hello says whether the node has computed a shard, with a connection or without', () => {
  const told = (...events: Played[]): unknown => {
    const command = play(...work, ...events).commands.at(-1);
    return command?.kind === 'send' && command.report.$case === 'hello' && command.report.value.hasComputed;
  };
  const redial: Played[] = [
    [50, disconnected],
    [190, time],
  ];
  assert.equal(told(...redial), false);
  assert.equal(told([40, failed], ...redial), false);
  assert.equal(told([40, done], ...redial), true);
  assert.equal(told([50, disconnected], [60, done], [190, time]), true);
});

test('when the connection breaks, a node forgets the shards whose files go through the coordinator', () => {
  const before = play(...work).state;
  const leases = [...before.leases].map(([id, { lease, ...held }]) => {
    return [id, { ...held, lease: { ...lease, handOver: id === 1 ? 'http://host/handover/j/t' : '' } }] as const;
  });
  const { state, commands } = converse({ ...before, leases: new Map(leases) }, disconnected, 40, options);
  assert.deepEqual([words(commands), [...state.leases.keys()]], [['forget 1'], [2]]);
});

test('a node that holds shards dials at least every second', () => {
  let { state } = play(...work);
  let nowMs = 40;
  for (let i = 0; i < 20; i++) {
    state = converse(state, { ...disconnected, jitter: 0.999 }, nowMs, options).state;
    assert.ok(nextWakeMs(state)! - nowMs < 1000);
    nowMs = nextWakeMs(state)!;
    state = converse(state, time, nowMs, options).state;
  }
});

test('it dials again forever, with growing pauses of at most ten seconds', () => {
  let state = startConversation(0, hello.creditBytes);
  const waitsMs: number[] = [];
  for (let i = 0, nowMs = 0; i < 40; i++) {
    const dialled = converse(state, { kind: 'timePassed', jitter: 0 }, nowMs, options);
    assert.deepEqual(words(dialled.commands), ['dial a:1', 'send hello']);
    state = converse(dialled.state, { ...disconnected, jitter: 0.999 }, nowMs, options).state;
    waitsMs.push(Math.round(nextWakeMs(state)! - nowMs));
    nowMs = nextWakeMs(state)!;
  }
  assert.deepEqual(waitsMs.slice(0, 6), [250, 500, 1000, 1999, 3998, 7996]);
  assert.equal(Math.max(...waitsMs), 9995);
});

/** The shards of a conversation, to be brought to another one. */
const shardsOf = ({ leases, keepUntilMs }: Conversation) => ({ leases, keepUntilMs });

test('shards of a coordinator that is gone are brought to another, which says which of them go on', () => {
  const lost = play(...attach, [20, lease(7)], [30, lease(8)], [40, disconnected]).state;
  const other = startConversation(0, 100, 1000);
  const { leases, keepUntilMs } = shardsOf(lost);
  assert.equal(converse(lost, { kind: 'handedOver', leaseIds: leases.keys() }, 45, options).state.leases.size, 0);
  const brought = converse(other, { kind: 'brought', leases, keepUntilMs }, 50, options);
  assert.equal(brought.state.keepUntilMs, 60_040);
  const dialled = converse(brought.state, time, 60, options);
  const [, hello] = dialled.commands;
  assert.ok(hello?.kind === 'send' && hello.report.$case === 'hello');
  assert.deepEqual(
    hello.report.value.held.map(({ shard }) => shard),
    [7, 8],
  );
  const welcomed = converse(dialled.state, welcomeBack(8), 70, options);
  assert.deepEqual(words(welcomed.commands), ['forget 1']);
  const answered = converse(welcomed.state, { kind: 'shardCompleted', leaseId: 2, report: completed }, 80, options);
  assert.deepEqual(words(answered.commands), ['send completed']);
});

test('a shard in a part uses no credit, and the next hello says that it is in a part', () => {
  const credit = { ...hello, creditBytes: 10 };
  const large = (shard: number): ConversationEvent =>
    ordered({ $case: 'lease', value: Lease.create({ jobId: 'j', shard, attempt: 2, epoch: 4, costBytes: 8 }) });
  let state = startConversation(0, credit.creditBytes);
  const events: Played[] = [...attach, [20, large(7)], [30, inPart], [31, large(8)]];
  for (const [nowMs, event] of events) state = converse(state, event, nowMs, { ...options, hello: credit }).state;
  assert.equal(heldBytes(state), 8);
  state = converse(state, disconnected, 40, options).state;
  const [, said] = converse(state, time, 165, { ...options, hello: credit }).commands;
  assert.ok(said?.kind === 'send' && said.report.$case === 'hello');
  const { creditBytes, held } = said.report.value;
  assert.deepEqual(
    [creditBytes, held.map(({ shard, inPart: waits }) => [shard, waits])],
    [
      10,
      [
        [7, true],
        [8, false],
      ],
    ],
  );
});

test('a coordinator is told a new credit after its welcome, and the next hello states it', () => {
  const credited = (bytes: number): ConversationEvent => ({ kind: 'credited', bytes });
  const told = play(...attach, [20, credited(50)]);
  assert.deepEqual(told.commands, [{ kind: 'send', report: { $case: 'credit', value: { bytes: 50 } } }]);
  assert.deepEqual(play(...attach, [20, credited(50)], [21, credited(50)]).commands, []);
  assert.deepEqual(play(...greet, [5, credited(50)]).commands, []);
  const again = play(...attach, [20, credited(50)], [40, disconnected], [165, time]);
  const hello = again.commands[1];
  assert.ok(hello?.kind === 'send' && hello.report.$case === 'hello');
  assert.equal(hello.report.value.creditBytes, 50);
  const taken = ordered({ $case: 'creditTaken', value: { bytes: 50 } });
  assert.deepEqual(play(...attach, [30, taken]).commands, [{ kind: 'creditTaken', bytes: 50 }]);
});

test('a coordinator that is needed is dialled soon, however many dials have failed', () => {
  let state = startConversation(0, 0);
  let nowMs = 0;
  for (let i = 0; i < 8; i++) {
    state = converse(converse(state, time, nowMs, options).state, disconnected, nowMs, options).state;
    nowMs = nextWakeMs(state)!;
  }
  state = converse(converse(state, time, nowMs, options).state, disconnected, nowMs, options).state;
  assert.ok(nextWakeMs(state)! - nowMs > 4000);
  state = converse(state, { kind: 'needed', jitter: 0 }, nowMs, options).state;
  assert.equal(nextWakeMs(state), nowMs + 125);
  assert.equal(converse(state, { kind: 'needed', jitter: 0 }, nowMs + 100, options).state.phase.kind, 'waiting');
});

test('after a welcome the pauses are short again', () => {
  let { state } = play(...greet);
  let nowMs = 0;
  for (let i = 0; i < 20; i++) {
    state = converse(state, disconnected, nowMs, options).state;
    nowMs = nextWakeMs(state)!;
    state = converse(state, time, nowMs, options).state;
  }
  state = converse(state, welcome, nowMs, options).state;
  state = converse(state, disconnected, nowMs, options).state;
  assert.equal(nextWakeMs(state), nowMs + 125);
});

test('shards of a job that moved to this coordinator go on if it says so, and are not reported before', () => {
  const orderOf = (order: Order) => ordered(order);
  const bring = orderOf({ $case: 'bring', value: { jobId: 'j', epoch: 5 } });
  const attached = play(...attach, [20, lease(1)], [30, bring]);
  assert.deepEqual(attached.commands, [{ kind: 'gather', jobId: 'j', epoch: 5 }]);
  const { leases } = play(...attach, [20, lease(7)], [30, lease(8)], [40, lease(9)]).state;
  // Lease numbers of another conversation differ.
  const others = new Map([...leases].map(([leaseId, held]) => [leaseId + 1000, held]));
  const named = converse(
    attached.state,
    { kind: 'gathered', jobId: 'j', leases: others, creditBytes: 300 },
    40,
    options,
  );
  const [brought] = named.commands;
  assert.ok(brought?.kind === 'send' && brought.report.$case === 'brought');
  const { held, creditBytes } = brought.report.value;
  assert.deepEqual([held.map(({ shard }) => shard), creditBytes, named.state.creditBytes], [[7, 8, 9], 300, 300]);
  const early = converse(named.state, { kind: 'shardCompleted', leaseId: 1001, report: completed }, 50, options);
  assert.deepEqual(early.commands, []);
  const kept = [7, 8].map((shard) => ({ jobId: 'j', shard, attempt: 2, epoch: 5, verify: false, inPart: false }));
  const ofAnother = orderOf({ $case: 'kept', value: { jobId: 'k', kept: [] } });
  assert.deepEqual(converse(early.state, ofAnother, 55, options).commands, []);
  const told = converse(early.state, orderOf({ $case: 'kept', value: { jobId: 'j', kept } }), 60, options);
  assert.deepEqual(words(told.commands), ['forget 1003', 'send completed']);
  const [, answer] = told.commands;
  assert.ok(answer?.kind === 'send' && answer.report.$case === 'completed' && answer.report.value.epoch === 5);
  // Shards that this coordinator leased itself go on as well.
  assert.deepEqual([...told.state.leases.keys()].toSorted(), [1, 1002]);
  const later = converse(told.state, { kind: 'shardCompleted', leaseId: 1002, report: completed }, 70, options);
  assert.deepEqual(words(later.commands), ['send completed']);
});
