/** When a node stops by itself. */
export interface LifeLimits {
  /** Without a shard for this long, it stops. Undefined: it waits for work without a limit. */
  idleExitMs: number | undefined;
  /** It ends before this moment, in milliseconds since 1970. Undefined: it has no such limit. */
  untilMs: number | undefined;
  /** A stopped node computes for at most this long, and then hands back its shards. */
  drainTimeoutMs: number;
}

/** Why a node stops. `hasWorkLeft`: it should be started again, because others wait for its work. */
export interface Stop {
  reason: string;
  hasWorkLeft: boolean;
}

/** After its shards, a node needs at most this long to take leave of its coordinators and to close its device. */
const closingMs = 5_000;

/** How long before its end a node must stop, in milliseconds. */
export const endingMs = ({ drainTimeoutMs }: Pick<LifeLimits, 'drainTimeoutMs'>): number => drainTimeoutMs + closingMs;

/**
 * Why the node stops at `nowMs` (since 1970), if it does. `idleMs`: how long it has had no shard; 0 while it has one.
 */
export function whyStop(limits: LifeLimits, { idleMs, nowMs }: { idleMs: number; nowMs: number }): Stop | undefined {
  const { idleExitMs, untilMs } = limits;
  if (untilMs !== undefined && nowMs >= untilMs - endingMs(limits)) {
    return { reason: `Its time ends at ${new Date(untilMs).toISOString()} (--until)`, hasWorkLeft: true };
  }
  if (idleExitMs !== undefined && idleMs >= idleExitMs) {
    return { reason: `It had no shard for ${idleExitMs / 1000} s (--idle-exit)`, hasWorkLeft: false };
  }
  return undefined;
}
