import { createRequire } from 'node:module';
import { named, sentence } from '@halogrid/proto/sentence';
import { CaptureOptionsError } from './capture-options-error.ts';
import { offsetOf } from './capture-time.ts';

/** Converts what a clock shows, as CaptureTime.localMs, to milliseconds since 1970 in UTC. */
export type ToUtc = (localMs: number) => number;

/** Clocks are put forward and back at whole minutes: in St. John's at 00:01, until 2011. */
const minuteMs = 60_000;

/**
 * The zone of that name: a place of the IANA database such as `Europe/Berlin`, `UTC`, or an offset such as `+02:00`.
 * When clocks are put forward, a time that is skipped counts as if they had not been. When they are put back, a time
 * that comes twice is the first. RFC 5545 says so for calendars. Throws CaptureOptionsError.
 */
export function parseZone(text: string): ToUtc {
  const offset = offsetOf(text);
  if (offset !== undefined) return (localMs) => localMs - offset * minuteMs;
  const timeZone = placeOf(text);
  if (timeZone === undefined) {
    const expected = sentence`Expected a time zone such as Europe/Berlin, UTC or +02:00 for ${named('captured.zone')}`;
    throw new CaptureOptionsError(sentence`${expected} but received '${text}'`);
  }
  // The offset of the last minute is kept for the next frame: a minute has one offset, and finding it takes 10 µs
  // (measured).
  let [lastMinute, offsetMs] = [Number.NaN, 0];
  return (localMs) => {
    const minute = Math.floor(localMs / minuteMs);
    if (minute !== lastMinute) offsetMs = minute * minuteMs - utcOf(minute * minuteMs, timeZone);
    lastMinute = minute;
    return localMs - offsetMs;
  };
}

let loaded: typeof import('temporal-polyfill') | undefined;

/** Loaded when it is needed: that takes 15 ms, which every command would wait for. */
function loadTemporal(): typeof import('temporal-polyfill').Temporal {
  loaded ??= createRequire(import.meta.url)('temporal-polyfill') as typeof import('temporal-polyfill');
  return loaded.Temporal;
}

function placeOf(text: string): string | undefined {
  if (!/^[A-Za-z][\w+-]*(\/[\w+-]+)*$/.test(text)) return undefined;
  try {
    return loadTemporal().Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(text).timeZoneId;
  } catch {
    return undefined;
  }
}

function utcOf(localMs: number, timeZone: string): number {
  const clock = loadTemporal().Instant.fromEpochMilliseconds(localMs).toZonedDateTimeISO('UTC').toPlainDateTime();
  return clock.toZonedDateTime(timeZone, { disambiguation: 'compatible' }).epochMilliseconds;
}

/** Whether a zone needs the machine's data of time zones: an offset and UTC do not. */
export const isNamedZone = (text: string): boolean =>
  text !== '' && text.toUpperCase() !== 'UTC' && offsetOf(text) === undefined;
