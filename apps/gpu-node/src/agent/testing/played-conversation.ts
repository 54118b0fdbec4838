// The words of the tests of a node's conversation with its coordinator, and a player of them: no connection, no clock.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { AttachResponse, Hello, Lease, ShardCompleted } from '@halogrid/proto';
import { converse } from '../conversation.ts';
import {
  type Conversation,
  type ConversationCommand,
  type ConversationEvent,
  type ConversationOptions,
  startConversation,
} from '../conversation-state.ts';

export const hello = Hello.create({ nodeId: 'n', name: 'node', protocol: 1 });
export const options = { address: 'a:1', hello, drainTimeoutMs: 8_000 };
export const completed = { ...ShardCompleted.create({ jobId: 'j', shard: 7 }), results: [] };

export type Order = NonNullable<AttachResponse['order']>;
export const ordered = (order: Order): ConversationEvent => ({
  kind: 'ordered',
  order: AttachResponse.create({ reportWithinMs: 3000, order }),
});
/** A welcome in that protocol that lets these shards of job j, attempt 2 of epoch 5, go on. */
export const welcomeIn = (protocol: number, ...shards: number[]): ConversationEvent => {
  const kept = shards.map((shard) => ({ jobId: 'j', shard, attempt: 2, epoch: 5, verify: false, inPart: false }));
  return ordered({ $case: 'welcome', value: { epoch: 5, httpPort: 9464, kept, protocol } });
};
export const welcomeBack = (...shards: number[]) => welcomeIn(0, ...shards);
export const welcome = welcomeBack();
export const acknowledge = ordered({ $case: 'acknowledge', value: {} });
export const drained = ordered({ $case: 'drain', value: {} });
export const lease = (shard: number, jobId = 'j'): ConversationEvent =>
  ordered({ $case: 'lease', value: Lease.create({ jobId, shard, attempt: 2, epoch: 4 }) });
export const recall = (jobId: string, ...shards: number[]): ConversationEvent =>
  ordered({ $case: 'recall', value: { jobId, shards } });
export const disconnected = {
  kind: 'disconnected',
  reason: 'gone',
  isRefusal: false,
  jitter: 0,
} satisfies ConversationEvent;
export const time: ConversationEvent = { kind: 'timePassed', jitter: 0 };
export const stop: ConversationEvent = { kind: 'stopRequested', reason: 'SIGTERM' };

/** What happens, and when. */
export type Played = [nowMs: number, event: ConversationEvent];

/** Plays events at their times; returns the state and the commands of the last one. */
export function play(...events: Played[]) {
  return playFor(options, ...events);
}

export function playFor(
  options: ConversationOptions,
  ...events: Played[]
): { state: Conversation; commands: ConversationCommand[] } {
  let state = startConversation(0, hello.creditBytes);
  let commands: ConversationCommand[] = [];
  for (const [nowMs, event] of events) ({ state, commands } = converse(state, event, nowMs, options));
  return { state, commands };
}

/** Commands as short words. */
export function words(commands: readonly ConversationCommand[]): string[] {
  return commands.map((command) => {
    switch (command.kind) {
      case 'dial':
        return `dial ${command.address}`;
      case 'send':
        return `send ${command.report.$case}`;
      case 'startShard':
        return `start ${command.leaseId}`;
      case 'forgetShard':
        return `forget ${command.leaseId}`;
      case 'end':
        return `end ${command.exit.code}: ${command.exit.reason}`;
      default:
        return command.kind;
    }
  });
}

export const greet: Played[] = [[0, time]];
export const attach: Played[] = [...greet, [10, welcome]];
export const work: Played[] = [...attach, [20, lease(7)], [30, lease(8)]];
export const done = { kind: 'shardCompleted', leaseId: 1, report: completed } satisfies ConversationEvent;
export const inPart: ConversationEvent = { kind: 'shardInPart', leaseId: 1 };
export const failed = {
  kind: 'shardFailed',
  leaseId: 2,
  error: 'No device.',
  isOutput: false,
  isDevice: true,
} satisfies ConversationEvent;

/** The node has lost the connection and dialled again. */
export const again: Played[] = [...work, [40, disconnected], [165, time]];

/** A test: what happens, the phase after it, and the commands of the last event as words. */
export type Row = [name: string, events: Played[], phase: string, commands: string[]];

/** Plays each row as a test of its own. */
export function testRows(subject: string, rows: readonly Row[]): void {
  describe(subject, () => {
    for (const [name, events, phase, expected] of rows) {
      test(name, () => {
        const { state, commands } = play(...events);
        assert.equal(state.phase.kind, phase);
        assert.deepEqual(words(commands), expected);
      });
    }
  });
}
