import type { Leader } from '@halogrid/ledger';

/** What this process is to the ledger. */
export type LeaseState =
  /** It asks for the lease at `askAtMs`; `why` is one clause for people. */
  | { kind: 'standby'; askAtMs: number; why: string; epoch: number }
  /** It holds the lease, as of `renewedMs` at least, and asks for more time at `askAtMs`. */
  | { kind: 'leading'; epoch: number; renewedMs: number; askAtMs: number }
  /** It may do nothing more, for this sentence's reason. */
  | { kind: 'lost'; epoch: number; reason: string };

/** What was heard from the registry about a question that was put at `askedMs`, or that nothing was heard yet. */
export type LeaseEvent =
  | { kind: 'acquired'; epoch: number; askedMs: number }
  /** Another leads, or did a moment ago. */
  | { kind: 'occupied'; leader: Leader | undefined }
  | { kind: 'renewed'; askedMs: number }
  /** Another has taken over. */
  | { kind: 'fenced'; leader: Leader | undefined }
  /** The registry cannot be asked. */
  | { kind: 'failed'; error: string }
  /** The ledger is lost, to whoever leads and to whoever stands by. */
  | { kind: 'ended'; reason: string }
  | { kind: 'timePassed' };

/** The lease ends this long after it was renewed last. */
export const leaseMs = 5_000;

/** Between two questions. A successor leads within the lease and one of these; four renewals may fail before. */
export const askEveryMs = 1_000;

/**
 * A leader that cannot reach the ledger gives up after this. It is more than a lease, so that a database may be away
 * for a minute or two: nothing it says meanwhile is written where another leads.
 */
export const giveUpMs = 180_000;

/** The state of a process that has not asked yet. */
export function startLeadership(nowMs: number): LeaseState {
  return { kind: 'standby', askAtMs: nowMs, why: 'the ledger was not asked yet', epoch: 0 };
}

/** The only place where it is decided whether this process leads. */
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
