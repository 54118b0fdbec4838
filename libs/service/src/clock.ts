/** The two clocks of this process. Deadlines and durations use the monotonic one, because the other may jump. */
export interface Clock {
  /** Milliseconds since some moment; never goes back. */
  monotonicMs(): number;
  /** Milliseconds since 1970. */
  wallMs(): number;
}

export const systemClock: Clock = { monotonicMs: () => performance.now(), wallMs: () => Date.now() };
