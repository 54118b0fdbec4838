// Shared by tests of the scheduler: short names for events, and commands as words.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Shard } from '@halogrid/jobs/shard';
import { plannedSources } from '@halogrid/jobs/testing-planned';
import type { Command } from '../commands.ts';
import type { Comparable, LeaseId, SchedulerEvent, Verdict } from '../events.ts';
import { Scheduler } from '../scheduler.ts';

export type Event = SchedulerEvent<Comparable>;

export const shard = (number: number, costBytes = 1): Shard => ({
  shard: number,
  work: { kind: 'frames', sources: plannedSources([{ index: number, uri: `file:///frames/${number}.png` }]) },
  costBytes,
});
export const shards = (count: number, costBytes = 1): Shard[] =>
  Array.from({ length: count }, (_, i) => shard(i, costBytes));

export const joined = (session: number, creditBytes = 1000, nodeId = `node-${session}`): Event => ({
  kind: 'NodeJoined',
  session,
  nodeId,
  creditBytes,
});
/** A node that brings along leases of an earlier conversation. */
export const back = (session: number, brought: LeaseId[], nodeId = 'node-1', verify = false): Event => ({
  kind: 'NodeJoined',
  session,
  nodeId,
  creditBytes: 1000,
  brought: brought.map((each) => ({ ...each, verify, inPart: false })),
});
export const left = (session: number): Event => ({ kind: 'NodeLeft', session });
export const job = (jobId: string, planned: Shard[]): Event[] => [
  { kind: 'JobSubmitted', jobId },
  { kind: 'ShardsPlanned', jobId, shards: planned },
  { kind: 'PlanEnded', jobId },
];
export const tile = (number: number, uri: string): Shard => {
  const area = { size: { width: 9, height: 9 }, rect: { x: 0, y: 0, width: 9, height: 9 } };
  return {
    shard: number,
    work: { kind: 'tile', sources: plannedSources([{ index: 0, uri, tiles: 2 }]), ...area },
    costBytes: 1,
  };
};
/** A job with every shard verified. */
export const verified = (count: number): Event[] => [
  { kind: 'JobSubmitted', jobId: 'job', verifyPercent: 100 },
  ...job('job', shards(count)).slice(1),
];
export const lease = (number: number, attempt = 1, jobId = 'job', epoch = 7): LeaseId => ({
  jobId,
  shard: number,
  attempt,
  epoch,
});
export const completed = (session: number, id: LeaseId, digest = 'right'): Event => ({
  kind: 'ShardCompleted',
  session,
  lease: id,
  answer: { digest, bytes: 1 },
});
export const failed = (session: number, id: LeaseId): Event => ({
  kind: 'ShardFailed',
  session,
  lease: id,
  failure: { error: 'The device was lost', isOutput: false },
});
export const notWritten = (session: number, id: LeaseId): Event => ({
  kind: 'ShardFailed',
  session,
  lease: id,
  failure: { error: 'The disk is full', isOutput: true },
});
/** A shard of a source that an earlier job has done. */
export const kept = (number: number): Shard => {
  const sources = plannedSources([{ index: number, uri: `file:///frames/${number}.png`, kept: 'then' }]);
  return { shard: number, work: { kind: 'kept', sources, earlier: [number, number, 1] }, costBytes: 0 };
};
/** A shard with these needs. */
export const needing = (number: number, needs: readonly string[]): Shard => ({ ...shard(number), needs });
export const shown = (session: number, need: string): Event => ({ kind: 'NeedShown', session, need });
export const lacked = (session: number, need: string, reason = 'It is not there'): Event => ({
  kind: 'NeedLacked',
  session,
  need,
  reason,
});
/** An answer that reports sources that could not be read. */
export const doubtful = (session: number, id: LeaseId): Event => ({
  kind: 'ShardCompleted',
  session,
  lease: id,
  answer: { digest: 'doubtful', bytes: 1, goodShare: 0, isDoubtful: true },
});
export const vetted = (session: number, id: LeaseId, verdict: Verdict): Event => ({
  kind: 'AnswerVetted',
  candidate: {
    nodeId: `node-${session}`,
    session,
    lease: id,
    leasedAtMs: 0,
    verify: false,
    answer: { digest: 'doubtful', bytes: 1, goodShare: 0, isDoubtful: true },
  },
  verdict,
});
export const committed = (number: number, jobId = 'job'): Event => ({ kind: 'CommitFinished', jobId, shard: number });
export const tick: Event = { kind: 'Tick' };

/** A command in a few words. */
export function words(command: Command<Comparable>): string {
  switch (command.kind) {
    case 'AssignShard':
      return `lease ${command.lease.jobId}/${command.lease.shard}#${command.lease.attempt} to ${command.session} (${command.reason}${command.verify ? ', by the reference' : ''})`;
    case 'AdoptShard':
      return `adopt ${command.lease.jobId}/${command.lease.shard}#${command.lease.attempt} of ${command.session}${command.verify ? ', by the reference' : ''}`;
    case 'ProbeNode':
      return `ask ${command.session} whether it can ${command.need}`;
    case 'VetAnswer':
      return `vet ${command.candidate.lease.jobId}/${command.shard.shard}#${command.candidate.lease.attempt} of ${command.candidate.session}`;
    case 'VetOutput':
      return `vet the output of ${command.lease.jobId} for ${command.session}`;
    case 'SkipShard':
      return `skip ${command.jobId}/${command.shard}`;
    case 'KeepShard':
      return `keep ${command.jobId}/${command.shard.shard}`;
    case 'RecordLack':
      return command.reason === undefined
        ? `${command.nodeId} can ${command.need} again`
        : `${command.nodeId} cannot ${command.need}: ${command.reason}`;
    case 'RecallShards':
      return `recall ${[command.jobId, ...command.shards].join('/')} from ${command.session}`;
    case 'DropNode':
      return `drop ${command.session}${command.isFinal ? ' for good' : command.lost ? ' as lost' : ''}`;
    case 'CommitShard':
      return `commit ${command.lease.jobId}/${command.lease.shard}#${command.lease.attempt} of ${command.session}`;
    case 'QuarantineShard':
      return `quarantine ${command.jobId}/${command.shard.shard} after ${command.attempts}: ${command.error}`;
    case 'FailJob':
      return `fail ${command.jobId}: ${command.error}`;
    case 'FinaliseJob':
      return `finalise ${command.jobId}`;
    case 'RecordMismatch':
      return `${command.nodeIds.join(', ')} differ on ${command.jobId}/${command.shard}`;
    case 'RecordWrongAnswer':
      return `${command.nodeId} was wrong on ${command.lease.jobId}/${command.lease.shard}#${command.lease.attempt}`;
    case 'RecordSetAside':
      return `${command.nodeId} set aside for ${command.forMs} ms: ${command.failures} of ${command.of} failed`;
    case 'RecordSetback':
      return `${command.setback} ${command.lease.jobId}/${command.lease.shard}#${command.lease.attempt} of ${command.nodeId}`;
  }
}

export const create = (): Scheduler<Comparable> => new Scheduler({ epoch: 7, reportWithinMs: 1000, tickMs: 100 });

/** Feeds the events at time 0 and returns the commands after the last one. */
export function lastCommands(events: Event[]): string[] {
  const scheduler = create();
  return events.map((event) => scheduler.handle(event, 0).map(words)).at(-1) ?? [];
}

/** A node that has computed something. */
export const proven: Event[] = [joined(1, 1), ...job('before', shards(1)), completed(1, lease(0, 1, 'before'))];

/** Given events, the next event, and the expected commands after it, in words. */
export interface SchedulerCase {
  name: string;
  given: Event[];
  when: Event;
  expected: string[];
}

/** A test for each line of a table. */
export function testCases(table: readonly SchedulerCase[]): void {
  for (const { name, given, when, expected } of table) {
    test(name, () => assert.deepEqual(lastCommands([...given, when]), expected));
  }
}
