const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/**
 * How long ago a time was, in whole units of the largest that fits: `now`, `12 s ago`, `3 min ago`, `5 h ago`, `2 d
 * ago`. A time in the future is `now`: the clock of a coordinator may be ahead of this one.
 */
export function describeAgo(thenMs: number, nowMs: number): string {
  const agoMs = nowMs - thenMs;
  if (agoMs < 1_000) return 'now';
  if (agoMs < minuteMs) return `${Math.floor(agoMs / 1_000)} s ago`;
  if (agoMs < hourMs) return `${Math.floor(agoMs / minuteMs)} min ago`;
  if (agoMs < dayMs) return `${Math.floor(agoMs / hourMs)} h ago`;
  return `${Math.floor(agoMs / dayMs)} d ago`;
}
