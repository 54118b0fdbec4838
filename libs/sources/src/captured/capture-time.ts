/** When something was captured, as its file or its name states it. */
export interface CaptureTime {
  /** The stated date and time of day, in milliseconds since 1970-01-01T00:00, of the years 1 to 9999. */
  localMs: number;
  /** Minutes by which that clock is ahead of UTC, -1080 to 1080; absent if not stated. */
  offsetMinutes?: number;
}

/** No place on earth is further from UTC, and ISO 8601 allows more. */
const maxOffsetMinutes = 18 * 60;

const firstMs = Date.parse('0001-01-01T00:00:00Z');
const lastMs = Date.parse('9999-12-31T23:59:59.999Z');

/** Whether a time is within the ranges of CaptureTime. */
export function isCaptureTime({ localMs, offsetMinutes = 0 }: CaptureTime): boolean {
  const isTime = Number.isInteger(localMs) && localMs >= firstMs && localMs <= lastMs;
  return isTime && Number.isInteger(offsetMinutes) && Math.abs(offsetMinutes) <= maxOffsetMinutes;
}

/** A date of the Gregorian calendar, its months from 1, and a time of day. */
export interface ClockFields {
  year: number;
  month: number;
  day: number;
  hour?: number;
  minute?: number;
  second?: number;
  millisecond?: number;
}

/** A date and time as CaptureTime.localMs; undefined if no clock shows them: 30 February, hour 24, a leap second. */
export function clockMs(fields: ClockFields): number | undefined {
  const { year, month, day, hour = 0, minute = 0, second = 0, millisecond = 0 } = fields;
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  // Date.UTC takes the years 0 to 99 for 1900 to 1999.
  if (year < 100) return undefined;
  const localMs = Date.UTC(year, month - 1, day, hour, minute, second, millisecond);
  const date = new Date(localMs);
  const isDate = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return isDate && isCaptureTime({ localMs }) ? localMs : undefined;
}

/** Minutes ahead of UTC of `Z`, `+02:00` or `+0200`; undefined for any other text. */
export function offsetOf(text: string): number | undefined {
  if (text === 'Z') return 0;
  const [, sign, hours, minutes] = /^([+-])(\d{2}):?([0-5]\d)$/.exec(text) ?? [];
  const offset = (sign === '-' ? -1 : 1) * (60 * Number(hours) + Number(minutes));
  return Math.abs(offset) <= maxOffsetMinutes ? offset || 0 : undefined;
}

/** The time in ISO 8601: `2026-01-31T08:00:00.250+02:00`; without a zone if none is stated. */
export function captureText({ localMs, offsetMinutes }: CaptureTime): string {
  const clock = new Date(localMs).toISOString().slice(0, -1);
  if (offsetMinutes === undefined) return clock;
  const minutes = Math.abs(offsetMinutes);
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${clock}${offsetMinutes < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

/** Reads what `captureText` wrote; undefined for any other text. */
export function parseCapture(text: string): CaptureTime | undefined {
  const localMs = Date.parse(`${text.slice(0, 23)}Z`);
  const offsetMinutes = text.length > 23 ? offsetOf(text.slice(23)) : undefined;
  const time = offsetMinutes === undefined ? { localMs } : { localMs, offsetMinutes };
  return isCaptureTime(time) && captureText(time) === text ? time : undefined;
}
