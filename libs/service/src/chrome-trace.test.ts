import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JobState, TraceResponse } from '@halogrid/proto';
import { chromeTrace } from './chrome-trace.ts';

const shard = (number: number, node: number, leased: number) => ({
  node,
  shard: number,
  attempt: 1,
  leased,
  begun: leased + 0.25,
  answered: leased + 2,
  merged: leased + 2.125,
  spans: [
    { stage: 'shard', from: 0, to: 1.5 },
    { stage: 'decode', from: 0.5, to: 1 },
  ],
});
const trace = TraceResponse.fromPartial({
  job: {
    jobId: 'the-job',
    state: JobState.COMPLETE,
    submittedMs: 1_000_000,
    finishedMs: 1_006_000,
    times: { leasedMs: 1_000_500, computedMs: 1_005_000 },
  },
  traceId: 'abc',
  sinceMs: 1_000_000,
  nodes: ['left', 'right'],
  shards: [shard(0, 0, 0.5), shard(1, 0, 1), shard(2, 1, 1)],
  every: 1,
});

interface Event {
  ph: string;
  name: string;
  pid: number;
  tid: number;
  ts: number;
  dur: number;
  args: Record<string, string | number>;
}
const { traceEvents, otherData } = chromeTrace(trace) as { traceEvents: Event[]; otherData: object };
const named = (what: string) => traceEvents.filter(({ ph, name }) => ph === 'M' && name === what);
const lasting = traceEvents.filter(({ ph }) => ph === 'X');

test('there is a process for the coordinator and for each node, with a row for each stage that occurred', () => {
  assert.deepEqual(
    named('process_name').map(({ pid, args }) => [pid, args.name]),
    [
      [0, 'coordinator'],
      [1, 'left'],
      [2, 'right'],
    ],
  );
  const rowsOf = (pid: number) =>
    named('thread_name')
      .filter((event) => event.pid === pid)
      .map(({ args }) => args.name);
  // Two shards were merged at the same time.
  assert.deepEqual(rowsOf(0), ['job', 'merge', 'merge']);
  // The two shards of this node overlap, as do their leases, but they were decoded one after the other.
  assert.deepEqual(rowsOf(1), ['leased', 'leased', 'shard', 'shard', 'decode']);
  assert.deepEqual(rowsOf(2), ['leased', 'shard', 'decode']);
});

test('times are microseconds since the job began', () => {
  const parts = lasting.filter(({ pid, tid }) => pid === 0 && tid === 0).map(({ name, ts, dur }) => [name, ts, dur]);
  assert.deepEqual(parts, [
    ['starting', 0, 500_000],
    ['computing', 500_000, 4_500_000],
    ['writing', 5_000_000, 1_000_000],
  ]);
  const decoded = lasting
    .filter(({ name }) => name === 'decode')
    .map(({ pid, ts, dur, args }) => [pid, ts, dur, args.shard]);
  assert.deepEqual(decoded, [
    [1, 1_250_000, 500_000, 0],
    [1, 1_750_000, 500_000, 1],
    [2, 1_750_000, 500_000, 2],
  ]);
  assert.deepEqual(otherData, { job: 'the-job', trace: 'abc', since: '1970-01-01T00:16:40.000Z', every: 1 });
});

test('nothing on a row overlaps', () => {
  for (const events of Map.groupBy(lasting, ({ pid, tid }) => `${pid} ${tid}`).values()) {
    for (const [i, { ts }] of events.entries()) assert.ok(i === 0 || events[i - 1]!.ts + events[i - 1]!.dur <= ts);
  }
});
