import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Scheduler } from './scheduler.ts';
import { type Event, job, joined, shards } from './testing/scheduler-cases.ts';

const withDecoders = (session: number, decoders: number): Event => ({ ...joined(session, 1e6), decoders }) as Event;

/** How many leases of a job each node gets before any node has answered, by session. */
function firstLeases(nodes: readonly Event[], count: number): number[] {
  const scheduler = new Scheduler({ epoch: 7, reportWithinMs: 1000, tickMs: 100 });
  const given = new Map<number, number>();
  for (const event of [...nodes, ...job('job', shards(count))]) {
    for (const command of scheduler.handle(event, 0)) {
      if (command.kind === 'AssignShard') given.set(command.session, (given.get(command.session) ?? 0) + 1);
    }
  }
  return [...given.values()];
}

const table: { name: string; nodes: Event[]; shards: number; expected: number[] }[] = [
  { name: 'a node has one for each decoder', nodes: [withDecoders(1, 16)], shards: 600, expected: [16] },
  {
    name: 'a node that is alone has one for each decoder, also of a small job',
    nodes: [withDecoders(1, 16)],
    shards: 10,
    expected: [10],
  },
  { name: 'a node that does not say how many has four', nodes: [joined(1, 1e6)], shards: 600, expected: [4] },
  {
    name: 'nodes with few and many decoders have as many as they can decode',
    nodes: [withDecoders(1, 2), withDecoders(2, 16)],
    shards: 600,
    expected: [4, 16],
  },
  {
    name: 'each node has the same number of a small job, and the rest goes to the first free node',
    nodes: [withDecoders(1, 2), withDecoders(2, 64)],
    shards: 12,
    expected: [4, 4],
  },
];
for (const { name, nodes, shards: count, expected } of table) {
  test(`before the first answer, ${name}`, () => assert.deepEqual(firstLeases(nodes, count), expected));
}
