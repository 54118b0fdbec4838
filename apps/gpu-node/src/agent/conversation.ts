import { type AttachResponse, type Lease, type LeaseName, protocolVersion, sinceProtocol } from '@halogrid/proto';
import {
  type Answer,
  type Conversation,
  type ConversationCommand,
  type ConversationEvent,
  type ConversationOptions,
  type Exit,
  heldBytes,
  type Phase,
  type UnansweredShard,
} from './conversation-state.ts';
import type { OutgoingReport } from './outgoing.ts';
import { addSent, shardsOf, unrecorded } from './sent-answers.ts';

type Step = { state: Conversation; commands: ConversationCommand[] };

/**
 * A connection without a welcome is given up after this time. A coordinator answers at once, within this time over any
 * network.
 */
const greetingMs = 10_000;
/**
 * The time that a coordinator gets to close the stream after the node's last message, and again after each message that
 * it sends meanwhile: over a slow network it acknowledges one answer after another.
 */
const leavingMs = 3_000;
/**
 * A node without a connection keeps its shards for this long: several times what a restart, or the takeover by another
 * coordinator, needs.
 */
const keepMs = 60_000;
/**
 * Reports are sent this many times as often as the deadline demands, so that one late turn of the event loop is
 * harmless.
 */
const reportsADeadline = 3;
const firstBackoffMs = 250;
const longestBackoffMs = 10_000;
/**
 * The longest pause while the node holds shards: a restarted coordinator waits for them only as long as for a report.
 */
const longestBackoffHoldingMs = 1_000;

/** When `timePassed` is next due; undefined when nothing depends on time. */
export function nextWakeMs(state: Conversation): number | undefined {
  const { phase, handBackMs, keepUntilMs } = state;
  switch (phase.kind) {
    case 'waiting':
      return Math.min(phase.dialAtMs, keepUntilMs);
    case 'greeting':
    case 'leaving':
      return phase.untilMs;
    case 'attached':
      return Math.min(
        phase.heardMs + phase.reportWithinMs,
        phase.reportedMs + phase.reportWithinMs / reportsADeadline,
        waitsToLeave(state) ? handBackMs : Number.POSITIVE_INFINITY,
      );
    case 'ended':
      return undefined;
  }
}

/** Decides every step of the conversation with the coordinator. Pure: returns the new state and commands. */
export function converse(
  state: Conversation,
  event: ConversationEvent,
  nowMs: number,
  options: ConversationOptions,
): Step {
  if (state.phase.kind === 'ended') return { state, commands: [] };
  const step = react(state, event, nowMs, options);
  return leaveWhenDrained(step, nowMs);
}

function react(state: Conversation, event: ConversationEvent, nowMs: number, options: ConversationOptions): Step {
  switch (event.kind) {
    case 'ordered':
      return obey(state, event.order, nowMs, options);
    case 'disconnected': {
      if (state.phase.kind === 'leaving') return end(state, { code: 0, reason: state.drainReason });
      if (event.isRefusal) return end(state, { code: 1, reason: `The coordinator refuses this node: ${event.reason}` });
      return lose(state, event.jitter, nowMs);
    }
    case 'shardInPart':
      return putInPart(state, event.leaseId, nowMs);
    case 'shardCompleted':
    case 'shardFailed':
      return report(state, event.leaseId, nowMs, event);
    case 'looked':
      return tell(state, { $case: 'sight', value: event.sight }, nowMs);
    case 'searched':
      return tell(state, { $case: 'found', value: event.found }, nowMs);
    case 'loaded':
      return tell(state, { $case: 'load', value: event.load }, nowMs);
    case 'brought': {
      const leases = new Map([...state.leases, ...event.leases]);
      return { state: { ...state, leases, keepUntilMs: Math.min(state.keepUntilMs, event.keepUntilMs) }, commands: [] };
    }
    case 'gathered':
      return gather(state, event, nowMs);
    case 'handedOver': {
      const leases = new Map(state.leases);
      for (const leaseId of event.leaseIds) leases.delete(leaseId);
      const keepUntilMs = leases.size > 0 ? state.keepUntilMs : Number.POSITIVE_INFINITY;
      return { state: { ...state, leases, keepUntilMs }, commands: [] };
    }
    case 'needed':
      return hurry(state, event.jitter, nowMs);
    case 'credited':
      return credit(state, event.bytes, nowMs);
    case 'stopRequested':
      return drain(state, event.reason, nowMs, options);
    case 'deviceGone':
      return end(state, { code: 1, reason: event.reason });
    case 'timePassed':
      return keepTime(state, event.jitter, nowMs, options);
  }
}

function obey(
  state: Conversation,
  { order, reportWithinMs }: AttachResponse,
  nowMs: number,
  options: ConversationOptions,
): Step {
  const { phase } = state;
  if (phase.kind === 'greeting') {
    if (order?.$case !== 'welcome') return { state, commands: [] };
    const protocol = order.value.protocol || protocolVersion;
    const attached: Phase = { kind: 'attached', reportWithinMs, heardMs: nowMs, reportedMs: nowMs, protocol };
    const welcomed = { ...state, phase: attached, attempts: 0, keepUntilMs: Number.POSITIVE_INFINITY };
    const { state: kept, commands } = goOn(welcomed, order.value.kept, nowMs);
    if (kept.draining !== 'asked') return { state: kept, commands };
    const told = announce(kept, attached, nowMs);
    return { state: told.state, commands: [...commands, ...told.commands] };
  }
  if (phase.kind === 'leaving') {
    return { state: { ...state, phase: { ...phase, untilMs: nowMs + leavingMs } }, commands: [] };
  }
  if (phase.kind !== 'attached') return { state, commands: [] };

  const heard: Conversation = {
    ...state,
    phase: { ...phase, reportWithinMs, heardMs: nowMs },
    sent: unrecorded(state.sent, nowMs),
  };
  switch (order?.$case) {
    case 'lease': {
      const leaseId = state.nextLeaseId;
      const leases = new Map(state.leases).set(leaseId, { lease: order.value, answer: undefined });
      const commands: ConversationCommand[] = [{ kind: 'startShard', leaseId, lease: order.value }];
      return { state: { ...heard, leases, nextLeaseId: leaseId + 1 }, commands };
    }
    case 'recall': {
      const { jobId, shards } = order.value;
      return forget(heard, (lease) => {
        return lease.jobId === jobId && (shards.length === 0 || shards.includes(lease.shard));
      });
    }
    case 'drain':
      // The coordinator answers the announcement with this, and leases nothing after it. Orders sent before may still
      // arrive first.
      if (state.draining === 'announced') return { state: { ...heard, draining: 'heard' }, commands: [] };
      return drain(heard, 'The coordinator told the node to stop', nowMs, options);
    case 'probe':
      return { state: heard, commands: [{ kind: 'look', probe: order.value }] };
    case 'search':
      return { state: heard, commands: [{ kind: 'search', part: order.value }] };
    case 'creditTaken':
      return { state: heard, commands: [{ kind: 'creditTaken', bytes: order.value.bytes }] };
    case 'bring':
      return { state: heard, commands: [{ kind: 'gather', jobId: order.value.jobId, epoch: order.value.epoch }] };
    case 'kept': {
      const { jobId, kept: named } = order.value;
      const brought = new Map([...state.leases].filter(([, held]) => held.isBrought && held.lease.jobId === jobId));
      const others = [...state.leases].filter(([leaseId]) => !brought.has(leaseId));
      const { state: kept, commands } = goOn({ ...heard, leases: brought }, named, nowMs);
      return { state: { ...kept, leases: new Map([...others, ...kept.leases]) }, commands };
    }
    default:
      return { state: heard, commands: [] };
  }
}

/** Sends a report, if the coordinator that asked is still attached. */
function tell(state: Conversation, report: OutgoingReport, nowMs: number): Step {
  if (state.phase.kind !== 'attached') return { state, commands: [] };
  const phase = { ...state.phase, reportedMs: nowMs };
  return { state: { ...state, phase }, commands: [{ kind: 'send', report }] };
}

/** While the node waits for its welcome, hello has stated another credit. The new one is told after the welcome. */
function credit(state: Conversation, creditBytes: number, nowMs: number): Step {
  if (state.phase.kind === 'greeting' || creditBytes === state.creditBytes) return { state, commands: [] };
  return tell({ ...state, creditBytes }, { $case: 'credit', value: { bytes: creditBytes } }, nowMs);
}

/** Names the gathered shards. Until the coordinator says which go on, all go on, and no outcome is reported. */
function gather(
  state: Conversation,
  { jobId, leases: gathered, creditBytes }: Extract<ConversationEvent, { kind: 'gathered' }>,
  nowMs: number,
): Step {
  const brought = [...gathered].map(([leaseId, held]) => [leaseId, { ...held, isBrought: true }] as const);
  const leases = new Map([...state.leases, ...brought]);
  const value = { jobId, held: heldLeases(gathered), creditBytes };
  return tell({ ...state, leases, creditBytes }, { $case: 'brought', value }, nowMs);
}

/** Reports that a shard waits in a part. Without a connection the next hello says so. */
function putInPart(state: Conversation, leaseId: number, nowMs: number): Step {
  const held = state.leases.get(leaseId);
  if (!held) return { state, commands: [] };
  const leases = new Map(state.leases).set(leaseId, { ...held, isInPart: true });
  const next = { ...state, leases };
  return held.isBrought || !knowsInPart(state) ? { state: next, commands: [] } : tell(next, inPart(held.lease), nowMs);
}

/** Reports the outcome of a shard, unless the shard was forgotten. Without a connection the outcome waits for one. */
function report(state: Conversation, leaseId: number, nowMs: number, answer: Answer): Step {
  const held = state.leases.get(leaseId);
  if (!held) return { state, commands: [] };
  const leases = new Map(state.leases);
  const hasComputed = state.hasComputed || answer.kind === 'shardCompleted';
  if (state.phase.kind !== 'attached' || held.isBrought) {
    leases.set(leaseId, { ...held, answer });
    return { state: { ...state, leases, hasComputed }, commands: [] };
  }
  leases.delete(leaseId);
  const phase = { ...state.phase, reportedMs: nowMs };
  const sent = addSent(state.sent, leaseId, { ...held, answer }, nowMs);
  return {
    state: { ...state, phase, leases, sent, hasComputed },
    commands: [{ kind: 'send', report: answerTo(held.lease, answer) }],
  };
}

/** Keeps the shards that the welcome names, reports those already computed, and forgets the others. */
function goOn(state: Conversation, kept: readonly LeaseName[], nowMs: number): Step {
  const leases = keepNamed(state.leases, kept);
  const { state: wanted, commands } = forget(state, (_lease, leaseId) => !leases.has(leaseId));
  let { sent } = state;
  for (const [leaseId, held] of leases) {
    const { lease, answer, isInPart } = held;
    if (isInPart && knowsInPart(state)) commands.push({ kind: 'send', report: inPart(lease) });
    if (!answer) continue;
    leases.delete(leaseId);
    sent = addSent(sent, leaseId, held, nowMs);
    commands.push({ kind: 'send', report: answerTo(lease, answer) });
  }
  return { state: { ...wanted, leases, sent }, commands };
}

function drain(state: Conversation, drainReason: string, nowMs: number, { drainTimeoutMs }: ConversationOptions): Step {
  if (state.draining !== 'no') return { state, commands: [] };
  const { phase } = state;
  const asked: Conversation = { ...state, draining: 'asked', drainReason, handBackMs: nowMs + drainTimeoutMs };
  if (phase.kind === 'attached') return announce(asked, phase, nowMs);
  if (state.leases.size === 0) return end(state, { code: 0, reason: drainReason });
  // A restarted coordinator would wait for its shards until the node counts as lost.
  return { state: phase.kind === 'waiting' ? { ...asked, phase: { ...phase, dialAtMs: nowMs } } : asked, commands: [] };
}

function announce(state: Conversation, phase: Extract<Phase, { kind: 'attached' }>, reportedMs: number): Step {
  const commands: ConversationCommand[] = [{ kind: 'send', report: { $case: 'draining', value: {} } }];
  return { state: { ...state, phase: { ...phase, reportedMs }, draining: 'announced' }, commands };
}

function leaveWhenDrained({ state, commands }: Step, nowMs: number): Step {
  if (state.phase.kind !== 'attached' || state.draining !== 'heard' || state.leases.size > 0)
    return { state, commands };
  const phase: Phase = { kind: 'leaving', untilMs: nowMs + leavingMs };
  return { state: { ...state, phase }, commands: [...commands, { kind: 'closeStream' }] };
}

function keepTime(state: Conversation, jitter: number, nowMs: number, options: ConversationOptions): Step {
  const { phase } = state;
  if (nowMs < nextWakeMs(state)!) return { state, commands: [] };
  switch (phase.kind) {
    case 'waiting': {
      if (nowMs >= state.keepUntilMs) {
        return forget({ ...state, keepUntilMs: Number.POSITIVE_INFINITY }, () => true);
      }
      const { address } = options;
      const greeting: Phase = { kind: 'greeting', untilMs: nowMs + greetingMs };
      // The shards that the node already holds count as part of the credit.
      const creditBytes = Math.max(state.creditBytes, heldBytes(state));
      const value = { ...options.hello, creditBytes, held: heldLeases(state.leases), hasComputed: state.hasComputed };
      const hello: ConversationCommand = { kind: 'send', report: { $case: 'hello', value } };
      const greeted = { ...state, phase: greeting, creditBytes };
      return { state: greeted, commands: [{ kind: 'dial', address }, hello] };
    }
    case 'greeting':
      return hangUp(state, `no answer within ${greetingMs} ms`, jitter, nowMs);
    case 'attached': {
      if (nowMs >= phase.heardMs + phase.reportWithinMs) {
        return hangUp(state, `nothing heard for ${phase.reportWithinMs} ms`, jitter, nowMs);
      }
      if (nowMs >= state.handBackMs && waitsToLeave(state)) return handBack(state, nowMs);
      const heartbeat: ConversationCommand = { kind: 'send', report: { $case: 'heartbeat', value: {} } };
      return { state: { ...state, phase: { ...phase, reportedMs: nowMs } }, commands: [heartbeat] };
    }
    default:
      return end(state, { code: 0, reason: state.drainReason });
  }
}

function hangUp(state: Conversation, reason: string, jitter: number, nowMs: number): Step {
  const lost = lose(state, jitter, nowMs);
  return { state: lost.state, commands: [{ kind: 'hangUp', reason }, ...lost.commands] };
}

/**
 * The connection is gone. Shards go on for a while, also those whose answers may be lost: the coordinator that is
 * dialled next says which are still wanted. Shards whose files went through the lost coordinator are forgotten.
 */
function lose(state: Conversation, jitter: number, nowMs: number): Step {
  if (state.draining !== 'no') return end(state, { code: 0, reason: state.drainReason });
  const { state: kept, commands } = forget(state, ({ handOver }) => handOver !== '');
  const sent = state.phase.kind === 'attached' ? unrecorded(state.sent, state.phase.heardMs) : [];
  const leases = new Map([...kept.leases, ...shardsOf(sent)]);
  const isHolding = leases.size > 0;
  const keepUntilMs = isHolding ? Math.min(state.keepUntilMs, nowMs + keepMs) : Number.POSITIVE_INFINITY;
  const longestMs = isHolding ? longestBackoffHoldingMs : longestBackoffMs;
  const backoffMs = Math.min(longestMs, firstBackoffMs * 2 ** Math.min(state.attempts, 16));
  const phase: Phase = { kind: 'waiting', dialAtMs: nowMs + backoffMs * (0.5 + jitter / 2) };
  return { state: { ...kept, phase, leases, sent: [], attempts: state.attempts + 1, keepUntilMs }, commands };
}

/** Dials as soon as after the first loss. */
function hurry(state: Conversation, jitter: number, nowMs: number): Step {
  if (state.phase.kind !== 'waiting') return { state, commands: [] };
  const dialAtMs = Math.min(state.phase.dialAtMs, nowMs + firstBackoffMs * (0.5 + jitter / 2));
  return { state: { ...state, phase: { kind: 'waiting', dialAtMs }, attempts: 0 }, commands: [] };
}

/** Whether it still holds shards, or waits for the coordinator to acknowledge that it leaves. */
const waitsToLeave = ({ leases, draining }: Conversation): boolean => leases.size > 0 || draining === 'announced';

/** Returns the shards that it has no time left for, and does not wait for the acknowledgement. */
function handBack(state: Conversation, nowMs: number): Step {
  const returns = [...state.leases.values()].map(({ lease }): ConversationCommand => {
    const { jobId, shard, attempt, epoch } = lease;
    return { kind: 'send', report: { $case: 'returned', value: { jobId, shard, attempt, epoch } } };
  });
  const { state: forgotten, commands } = forget(state, () => true);
  const phase = state.phase.kind === 'attached' ? { ...state.phase, reportedMs: nowMs } : state.phase;
  return { state: { ...forgotten, phase, draining: 'heard' }, commands: [...commands, ...returns] };
}

/** Drops shards. Those with an answer that was sent are computed already, so there is nothing to stop. */
function forget(state: Conversation, isMeant: (lease: Lease, leaseId: number) => boolean): Step {
  const meant = [...state.leases].filter(([leaseId, { lease }]) => isMeant(lease, leaseId));
  const leases = new Map(state.leases);
  for (const [leaseId] of meant) leases.delete(leaseId);
  const running = meant.filter(([, { wasSent }]) => !wasSent);
  return { state: { ...state, leases }, commands: running.map(([leaseId]) => ({ kind: 'forgetShard', leaseId })) };
}

function end(state: Conversation, exit: Exit): Step {
  const { state: forgotten, commands } = forget(state, () => true);
  const hasConnection = state.phase.kind !== 'waiting';
  const hangUp: ConversationCommand[] = hasConnection ? [{ kind: 'hangUp', reason: exit.reason }] : [];
  return {
    state: { ...forgotten, phase: { kind: 'ended' } },
    commands: [...commands, ...hangUp, { kind: 'end', exit }],
  };
}

/** Whether the coordinator takes reports of shards that wait in a part; it has no use for them without a connection. */
const knowsInPart = ({ phase }: Conversation): boolean =>
  phase.kind !== 'attached' || phase.protocol >= sinceProtocol.inPart;

const inPart = ({ jobId, shard, attempt, epoch }: Lease): OutgoingReport => {
  return { $case: 'inPart', value: { jobId, shard, attempt, epoch } };
};

/** The report of an outcome, with the present epoch of the lease. */
function answerTo({ jobId, shard, attempt, epoch }: Lease, answer: Answer): OutgoingReport {
  if (answer.kind === 'shardCompleted') return { $case: 'completed', value: { ...answer.report, epoch } };
  const { error, isOutput: output, isDevice: device, need = '' } = answer;
  return { $case: 'failed', value: { jobId, shard, attempt, epoch, error, output, device, need } };
}

/** The leases of shards, as hello names them. */
function heldLeases(shards: ReadonlyMap<number, UnansweredShard>): LeaseName[] {
  return [...shards.values()].map(({ lease, isInPart = false }) => {
    const { jobId, shard, attempt, epoch, verify = false } = lease;
    return { jobId, shard, attempt, epoch, verify, inPart: isInPart };
  });
}

/** The shards that the welcome names, with the epoch that it gives them. */
function keepNamed(
  shards: ReadonlyMap<number, UnansweredShard>,
  kept: readonly LeaseName[],
): Map<number, UnansweredShard> {
  const named = new Map<number, UnansweredShard>();
  for (const [leaseId, held] of shards) {
    const name = kept.find(({ jobId, shard, attempt }) => {
      return jobId === held.lease.jobId && shard === held.lease.shard && attempt === held.lease.attempt;
    });
    const { answer, isInPart } = held;
    if (name) named.set(leaseId, { answer, isInPart, lease: { ...held.lease, epoch: name.epoch } });
  }
  return named;
}
