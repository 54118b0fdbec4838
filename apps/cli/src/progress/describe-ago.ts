const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/**
 * How long ago that was, in the largest unit of which there is a whole one: `now`, `12 s ago`, `3 min ago`, `5 h ago`,
 * `2 d ago`. What is yet to come by this clock, which may be behind that of a coordinator, is now.
 */
export function describeAgo(thenMs: number, nowMs: number): string {
  const agoMs = nowMs - thenMs;
  if (agoMs < 1_000) return 'now';
  if (agoMs < minuteMs) return `${Math.floor(agoMs / 1_000)} s ago`;
  if (agoMs < hourMs) return `${Math.floor(agoMs / minuteMs)} min ago`;
  if (agoMs < dayMs) return `${Math.floor(agoMs / hourMs)} h ago`;
  return `${Math.floor(agoMs / dayMs)} d ago`;
}
