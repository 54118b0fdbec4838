import { UsageError } from './usage-error.ts';

const unitsMs = { s: 1_000, min: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * Parses a time, in milliseconds since 1970: an age before `nowMs` (`90s`, `30min`, `2h`, `3d`), or a date, with or
 * without a time of day, in ISO 8601. Without a zone it is in this machine's local time. Throws UsageError, which names
 * the value `name`.
 */
export function readSince(text: string, name: string, nowMs = Date.now()): number {
  const [, count, unit] = /^(\d{1,7})(s|min|h|d)$/.exec(text) ?? [];
  if (count !== undefined) return Math.max(0, nowMs - Number(count) * unitsMs[unit as keyof typeof unitsMs]);
  const isIso = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)?)?$/.test(text);
  // Date.parse would read a date without a time as UTC.
  const timeMs = isIso ? Date.parse(text.includes('T') ? text : `${text}T00:00`) : Number.NaN;
  if (timeMs >= 0) return timeMs;
  throw new UsageError(
    `Expected a time such as 30min, 2h, 3d, 2026-01-31 or 2026-01-31T12:00 for ${name} but received '${text}'`,
  );
}
