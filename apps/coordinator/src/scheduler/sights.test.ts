import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OutputLack } from '@halogrid/jobs/output-lack';
import { Scheduler } from './scheduler.ts';
import {
  committed,
  completed,
  create,
  doubtful,
  type Event,
  failed,
  job,
  joined,
  lacked,
  lease,
  left,
  needing,
  notWritten,
  shards,
  shown,
  testCases,
  tick,
  tile,
  vetted,
  words,
} from './testing/scheduler-cases.ts';

const read = ['read file:///a'];
const other = ['read file:///b'];
const [a] = read as [string];
const [b] = other as [string];
/** One shard that needs `a`, and a node that has shown it. */
const begun: Event[] = [joined(1), ...job('job', [needing(0, read)]), shown(1, a)];
const refuted = { kind: 'refuted', need: a, reason: 'The file does not exist' } as const;
const untold = { kind: 'untold', reason: 'The server refuses access' } as const;

const out = 'write file:///out/.halogrid';
const full: OutputLack = { kind: 'room', error: 'ENOSPC: no space left on device, write', freeBytes: 4096 };
/** The answer to `notWritten(1, lease(0))` if the disk is full for the coordinator too. */
const outputVetted: Event = {
  kind: 'OutputVetted',
  session: 1,
  lease: lease(0),
  failure: { error: 'The disk is full', isOutput: true },
  need: out,
  own: full,
};

testCases([
  {
    name: 'a node is asked about the needs of shards before it gets any',
    given: [joined(1)],
    when: job('job', [needing(0, read)])[1]!,
    expected: [],
  },
  {
    name: 'a joining node is asked about the needs of jobs',
    given: job('job', [needing(0, read), needing(1, other)]),
    when: joined(1),
    expected: [`ask 1 whether it can ${a}`, `ask 1 whether it can ${b}`],
  },
  {
    name: 'a node gets shards with needs that it has shown',
    given: [joined(1), ...job('job', [needing(0, read), needing(1, other)])],
    when: shown(1, b),
    expected: ['lease job/1#1 to 1 (first)'],
  },
  {
    name: 'a node does not get shards with needs that it lacks, but gets others',
    given: [joined(1), joined(2), ...job('job', [needing(0, read)]), shown(2, a)],
    when: lacked(1, a),
    expected: [`node-1 cannot ${a}: It is not there`],
  },
  {
    name: 'shards that a node cannot do never hide others that it can, however many there are',
    given: [
      joined(1),
      ...job('job', [...Array.from({ length: 500 }, (_, i) => needing(i, read)), needing(500, other)]),
      lacked(1, a),
    ],
    when: shown(1, b),
    expected: ['lease job/500#1 to 1 (first)'],
  },
  {
    name: 'an answer that reports unreadable sources is vetted before it counts',
    given: begun,
    when: doubtful(1, lease(0)),
    expected: ['vet job/0#1 of 1'],
  },
  {
    name: 'an upheld answer is committed',
    given: [...begun, doubtful(1, lease(0))],
    when: vetted(1, lease(0), { kind: 'upheld' }),
    expected: ['commit job/0#1 of 1'],
  },
  {
    name: 'a refuted answer blames the node: it gets no more such shards, and the shard goes to another node',
    given: [...begun, joined(2), shown(2, a), doubtful(1, lease(0))],
    when: vetted(1, lease(0), refuted),
    expected: [
      `node-1 cannot ${a}: The file does not exist`,
      'failed job/0#1 of node-1',
      'lease job/0#2 to 2 (failed)',
    ],
  },
  {
    name: 'if the coordinator cannot tell, the shard goes to nodes that have not had it',
    given: [...begun, joined(2), shown(2, a), doubtful(1, lease(0))],
    when: vetted(1, lease(0), untold),
    expected: ['failed job/0#1 of node-1', 'lease job/0#2 to 2 (failed)'],
  },
  {
    name: 'if no node could read the sources, and the coordinator cannot tell, the answer is accepted',
    given: [
      ...[...begun, joined(2), shown(2, a), doubtful(1, lease(0))],
      ...[vetted(1, lease(0), untold), doubtful(2, lease(0, 2))],
    ],
    when: vetted(2, lease(0, 2), untold),
    expected: ['commit job/0#2 of 2'],
  },
  {
    name: 'a verdict on a shard that was done meanwhile changes nothing',
    given: [...begun, doubtful(1, lease(0)), vetted(1, lease(0), { kind: 'upheld' }), committed(0)],
    when: vetted(1, lease(0), refuted),
    expected: [],
  },
  {
    name: 'if results cannot be written, the coordinator tries itself',
    given: begun,
    when: notWritten(1, lease(0)),
    expected: ['vet the output of job for 1'],
  },
  {
    name: 'a node that cannot write results lacks that need, and the shard is not blamed',
    given: [...job('job', [needing(0, [out])]), joined(1), shown(1, out), notWritten(1, lease(0))],
    when: outputVetted,
    expected: ['failed job/0#1 of node-1', `node-1 cannot ${out}: ${full.error}`],
  },
  {
    name: 'a need that a node turns out to lack as it computes is only its own fault',
    given: begun,
    when: {
      kind: 'ShardFailed',
      session: 1,
      lease: lease(0),
      failure: { error: 'libturbojpeg is not there', isOutput: false, need: a },
    },
    expected: [`node-1 cannot ${a}: libturbojpeg is not there`, 'failed job/0#1 of node-1'],
  },
  {
    name: 'a shard is not given up while a node that could have it has not failed it',
    given: [
      ...[joined(1), joined(2), joined(3), ...job('job', [needing(0, [])])],
      ...[failed(1, lease(0)), failed(2, lease(0, 2))],
    ],
    when: failed(3, lease(0, 3)),
    expected: ['quarantine job/0 after 3: The device was lost'],
  },
  {
    name: 'a shard is given up without waiting for a node that cannot have it',
    given: [
      ...[joined(1), joined(2), ...job('job', [needing(0, read), needing(1, read)]), shown(1, a), lacked(2, a)],
      ...[completed(1, lease(0)), failed(1, lease(1)), failed(1, lease(1, 2))],
    ],
    when: failed(1, lease(1, 3)),
    expected: ['quarantine job/1 after 3: The device was lost'],
  },
  {
    name: 'the only node that could have a shard does not get it again at once, if it has computed nothing yet',
    given: [joined(1), joined(2), ...job('job', [needing(0, read)]), shown(1, a), lacked(2, a)],
    when: failed(1, lease(0)),
    expected: ['failed job/0#1 of node-1'],
  },
  {
    name: 'tiles of an image that is set aside are not leased any more',
    given: [
      ...[joined(1, 1), ...job('job', [tile(0, 'file:///a.png'), tile(1, 'file:///a.png'), tile(2, 'file:///a.png')])],
      {
        kind: 'ShardCompleted',
        session: 1,
        lease: lease(0),
        answer: { digest: 'bad', bytes: 1, goodShare: 0 },
      },
    ],
    when: completed(1, lease(1)),
    expected: ['duplicate job/1#1 of node-1'],
  },
]);

/** Feeds events at their times, and returns the commands, each with its time. */
function play(events: readonly [atMs: number, Event][]): string[] {
  const scheduler = create();
  return events.flatMap(([atMs, event]) => scheduler.handle(event, atMs).map((command) => `${atMs} ${words(command)}`));
}

/** A tick every tenth of a second, with a report of each node. */
const ticks = (fromMs: number, toMs: number, sessions = [1]): [number, Event][] =>
  Array.from({ length: (toMs - fromMs) / 100 }, (_, i) => fromMs + 100 * (i + 1)).flatMap((atMs): [number, Event][] => [
    ...sessions.map((session): [number, Event] => [atMs, { kind: 'NodeReported', session }]),
    [atMs, tick],
  ]);

test('a node that lacks something is asked again, after ever longer times', () => {
  const events: [number, Event][] = [...job('job', [needing(0, read)]), joined(1)].map((event) => [0, event]);
  events.push([0, lacked(1, a)], ...ticks(0, 1000), [1000, lacked(1, a)], ...ticks(1000, 3100), [3100, shown(1, a)]);
  assert.deepEqual(play(events), [
    `0 ask 1 whether it can ${a}`,
    `0 node-1 cannot ${a}: It is not there`,
    `1000 ask 1 whether it can ${a}`,
    `3000 ask 1 whether it can ${a}`,
    `3100 node-1 can ${a} again`,
    '3100 lease job/0#1 to 1 (first)',
  ]);
});

test('a node that does not answer a probe counts as lacking the need until it answers', () => {
  const events: [number, Event][] = [...job('job', [needing(0, read)]), joined(1)].map((event) => [0, event]);
  events.push(...ticks(0, 1500), [1500, shown(1, a)]);
  assert.deepEqual(play(events).slice(1), [
    `1100 node-1 cannot ${a}: It has not answered for 1000 ms whether it can`,
    `1500 node-1 can ${a} again`,
    '1500 lease job/0#1 to 1 (first)',
  ]);
});

test('a node that lacks what it has shown gets one shard at a time, until it has computed one', () => {
  const shards = Array.from({ length: 9 }, (_, i) => needing(i, read));
  const events: [number, Event][] = [joined(1), ...job('job', shards), shown(1, a)].map((event) => [0, event]);
  const first = [0, 1, 2, 3].flatMap((i): [number, Event][] => [
    [1, doubtful(1, lease(i))],
    [1, vetted(1, lease(i), refuted)],
  ]);
  const leases = play([...events, ...first, [2, shown(1, a)], [3, completed(1, lease(0, 2))]]).flatMap((word) => {
    const [atMs, kind] = word.split(' ');
    return kind === 'lease' ? [Number(atMs)] : [];
  });
  assert.deepEqual(leases.slice(0, 5), [0, 0, 0, 0, 2]);
  assert.ok(leases.length > 6 && leases.slice(5).every((atMs) => atMs === 3), leases.join());
});

test('a node that is asked to show what it has shown for another job goes on meanwhile', () => {
  const scheduler = create();
  const tell = (event: Event): string[] => scheduler.handle(event, 0).map(words);
  for (const event of [joined(1), ...job('one', [needing(0, read)]), shown(1, a)]) tell(event);
  tell({ kind: 'JobSubmitted', jobId: 'two' });
  assert.deepEqual(tell({ kind: 'ShardsPlanned', jobId: 'two', shards: [needing(0, read)] }), [
    `ask 1 whether it can ${a}`,
  ]);
  assert.deepEqual(tell(tick), ['lease two/0#1 to 1 (first)']);
});

test('a host does not count as away while a node that reads from it is set aside: shards that it fails are given up when it is back', () => {
  const [host] = ['read http://host'] as const;
  const scheduler = new Scheduler({ epoch: 7, reportWithinMs: 1000, tickMs: 100, sourceGraceMs: 20_000 });
  const said: string[] = [];
  const tell = (atMs: number, event: Event): void => {
    for (const command of scheduler.handle(event, atMs)) {
      if (!/^(ask|commit|failed|lease)/.test(words(command))) said.push(`${atMs} ${words(command)}`);
      if (command.kind === 'ProbeNode') tell(atMs, command.session === 1 ? shown(1, host) : lacked(2, host));
      if (command.kind !== 'AssignShard') continue;
      const end = command.lease.shard === 0 ? completed : failed;
      tell(atMs, end(command.session, command.lease));
    }
  };
  tell(0, joined(2));
  // Node 2 has computed something, so that it looks better than node 1.
  for (const event of job('before', shards(1))) tell(0, event);
  tell(0, joined(1));
  for (const event of job('job', [needing(0, [host]), needing(1, [host])])) tell(0, event);
  for (const [atMs, event] of ticks(0, 32_000, [1, 2])) tell(atMs, event);
  assert.deepEqual(said, [
    '0 node-2 cannot read http://host: It is not there',
    '2000 node-1 set aside for 30000 ms: 5 of 6 failed',
    '32000 quarantine job/1 after 7: The device was lost',
  ]);
});

/**
 * A job that writes, a node that lacks everything, and a node that could not write its shard; both report every second.
 */
function playFull(options: { spaceGraceMs?: number; own?: OutputLack; untilMs: number }) {
  const { own = full, untilMs, ...graces } = options;
  const scheduler = new Scheduler({ epoch: 7, reportWithinMs: 1000, tickMs: 100, graceMs: 5_000, ...graces });
  const said: string[] = [];
  const tell = (atMs: number, event: Event): void => {
    for (const command of scheduler.handle(event, atMs)) {
      if (command.kind === 'FailJob') said.push(`${atMs} ${command.isWant} ${command.error}`);
      else if (command.kind === 'ProbeNode' && command.session === 1) said.push(`${atMs} asked`);
    }
  };
  const blind = lacked(2, out, 'The path lies outside of the data roots (--data-root)');
  for (const event of [joined(1), joined(2), ...job('job', [needing(0, [out])]), shown(1, out), blind]) tell(0, event);
  tell(0, notWritten(1, lease(0)));
  tell(0, { ...outputVetted, own } as Event);
  for (const [atMs, event] of ticks(0, untilMs, [1, 2])) {
    tell(atMs, event);
    if (event === tick && said.at(-1) === `${atMs} asked`)
      tell(atMs, { kind: 'NeedLacked', session: 1, need: out, reason: own.error, own });
  }
  return { scheduler, said: said.slice(1), tell };
}

test('what a node said of an output goes with its job, and of a source it stays', () => {
  const { scheduler, tell } = playFull({ untilMs: 5_000 });
  const lacks = () => scheduler.node(1)!.lacks.map(({ need }) => need);
  tell(5_100, lacked(1, a, 'It is not there'));
  assert.deepEqual(lacks(), [out, a]);
  tell(5_200, { kind: 'JobAbandoned', jobId: 'job' });
  assert.deepEqual(lacks(), [a]);
  tell(5_300, lacked(1, out, 'It is full'));
  assert.deepEqual(lacks(), [a], 'an answer that comes late counts no more');
});

test('a job whose disk is full waits without an end, and says for what; a node is asked again every few seconds', () => {
  const { scheduler, said, tell } = playFull({ untilMs: 60_000 });
  assert.equal(scheduler.whyBlocked('job'), `It waits for room in '/out' (4.10 kB free): ${full.error}`);
  const asked = said.map((words) => Number(words.split(' ')[0]));
  assert.ok(
    asked.every((atMs, i) => atMs - (asked[i - 1] ?? 0) <= 5_100),
    said.join(),
  );
  tell(60_100, shown(1, out));
  assert.match(scheduler.whyBlocked('job')!, /waits for room/);
  tell(60_200, completed(1, lease(0, 2)));
  tell(60_300, tick);
  assert.equal(scheduler.whyBlocked('job'), undefined);
});

test('a job whose disk is full for longer than --space-grace fails and says what helps', () => {
  const { said } = playFull({ spaceGraceMs: 10_000, untilMs: 11_000 });
  const error = `There is no room in '/out' for 10 s (4.10 kB free): ${full.error}; make room there and run the same command again`;
  assert.match(said.find((words) => words.includes('true'))!, new RegExp(`^10100 true ${escaped(error)}`));
  assert.match(
    playFull({ spaceGraceMs: 0, untilMs: 300 }).said.at(-1)!,
    /^\d00 true There is no room in '\/out' \(4.10 kB free\)/,
  );
});

test('an output that is away for a moment has the grace of nodes', () => {
  const own: OutputLack = { kind: 'folder', error: 'ESTALE: stale file handle, open' };
  const { scheduler, said } = playFull({ own, untilMs: 4_900 });
  assert.equal(
    scheduler.whyBlocked('job'),
    "It waits for '/out', which cannot be written: ESTALE: stale file handle, open",
  );
  assert.ok(said.every((words) => words.endsWith('asked')));
  const failed = playFull({ own, untilMs: 6_000 }).said.find((words) => words.includes('true'))!;
  assert.match(failed, /^5100 true The output in '\/out' cannot be written: ESTALE: .* \(waited for 5 s\)/);
});

test('the time of a need that a node shows again does not go on while the job waits for a host', () => {
  const [host] = ['read http://host'] as const;
  const scheduler = new Scheduler({ epoch: 7, reportWithinMs: 1000, tickMs: 100, graceMs: 5_000 });
  const failures: string[] = [];
  const tell = (atMs: number, event: Event): void => {
    for (const command of scheduler.handle(event, atMs)) {
      if (command.kind === 'FailJob') failures.push(`${atMs} ${command.error}`);
      else if (command.kind === 'ProbeNode' && command.need === host) tell(atMs, lacked(command.session, host));
    }
  };
  const pass = (fromMs: number, toMs: number, sessions: number[]): void => {
    for (const [atMs, event] of ticks(fromMs, toMs, sessions)) tell(atMs, event);
  };
  for (const event of [joined(1), joined(2), ...job('job', [needing(0, [host, out])])]) tell(0, event);
  for (const session of [1, 2]) tell(0, lacked(session, out));
  pass(0, 1000, [1, 2]);
  tell(1000, shown(1, out));
  pass(1000, 9000, [1, 2]);
  tell(9000, left(1));
  pass(9000, 13_900, [2]);
  assert.deepEqual(failures, []);
  pass(13_900, 14_200, [2]);
  assert.match(failures.join(), /^14100 No attached node can write '\/out/);
});

const escaped = (text: string): string => text.replace(/[.()]/g, '\\$&');
