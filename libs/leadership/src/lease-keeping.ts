import type { Leader } from '@halogrid/ledger';

/** The role of this process. */
export type LeaseState =
  /** It will ask for the lease at `askAtMs`; `why` says in one clause why it does not lead. */
  | { kind: 'standby'; askAtMs: number; why: string; epoch: number }
  /** It holds the lease, which was last renewed at `renewedMs` or later, and will renew it at `askAtMs`. */
  | { kind: 'leading'; epoch: number; renewedMs: number; askAtMs: number }
  /** It may do nothing more; `reason` is a sentence. */
  | { kind: 'lost'; epoch: number; reason: string };

/** An answer of the registry to the question that was asked at `askedMs`, or that time has passed without one. */
export type LeaseEvent =
  | { kind: 'acquired'; epoch: number; askedMs: number }
  /** Another process leads, or did a moment ago. */
  | { kind: 'occupied'; leader: Leader | undefined }
  | { kind: 'renewed'; askedMs: number }
  /** Another process has taken over. */
  | { kind: 'fenced'; leader: Leader | undefined }
  /** The registry cannot be reached. */
  | { kind: 'failed'; error: string }
  /** The ledger is lost, for the leader and for standbys. */
  | { kind: 'ended'; reason: string }
  | { kind: 'timePassed' };

/** The lease ends so many milliseconds after its last renewal. */
export const leaseMs = 5_000;

/**
 * Milliseconds between two questions. A successor leads within the lease and one such interval, so up to four renewals
 * in a row may fail.
 */
export const askEveryMs = 1_000;

/**
 * A leader that cannot reach the ledger gives up after so many milliseconds. This is longer than a lease, so that a
 * database may be unreachable for a minute or two. It is safe: if another process leads by then, no write of this one
 * succeeds.
 */
export const giveUpMs = 180_000;

/** The state of a process that has not asked yet. */
export function startLeadership(nowMs: number): LeaseState {
  return { kind: 'standby', askAtMs: nowMs, why: 'the ledger was not asked yet', epoch: 0 };
}

/** Decides whether this process leads. No other code decides this. */
export function keepLease(state: LeaseState, event: LeaseEvent, nowMs: number): LeaseState {
  const askAtMs = nowMs + askEveryMs;
  switch (event.kind) {
    case 'acquired':
      return { kind: 'leading', epoch: event.epoch, renewedMs: event.askedMs, askAtMs };
    case 'occupied': {
      const { leader } = event;
      const why = leader ? `${leader.holder} leads` : 'nobody leads for the moment';
      return { kind: 'standby', askAtMs, why, epoch: leader?.epoch ?? state.epoch };
    }
    case 'renewed':
      return state.kind === 'leading' ? { ...state, renewedMs: event.askedMs, askAtMs } : state;
    case 'fenced': {
      const successor = event.leader ? `: ${event.leader.holder} leads, with epoch ${event.leader.epoch}` : '';
      return lose(
        state,
        `Another coordinator has taken over from this one, which had epoch ${state.epoch}${successor}`,
      );
    }
    case 'failed':
      if (state.kind === 'standby') return { ...state, askAtMs, why: event.error };
      return state.kind === 'leading' ? giveUp({ ...state, askAtMs }, event.error, nowMs) : state;
    case 'ended':
      return state.kind === 'lost' ? state : { kind: 'lost', epoch: state.epoch, reason: event.reason };
    case 'timePassed':
      return giveUp(state, 'the ledger does not answer', nowMs);
  }
}

function giveUp(state: LeaseState, why: string, nowMs: number): LeaseState {
  if (state.kind !== 'leading' || nowMs - state.renewedMs < giveUpMs) return state;
  return lose(state, `The lease on the ledger could not be renewed for ${giveUpMs / 1000} s: ${why}`);
}

function lose(state: LeaseState, reason: string): LeaseState {
  return state.kind === 'leading' ? { kind: 'lost', epoch: state.epoch, reason } : state;
}
