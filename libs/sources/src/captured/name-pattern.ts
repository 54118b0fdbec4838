import { named, sentence } from '@halogrid/proto/sentence';
import { CaptureOptionsError } from './capture-options-error.ts';
import { type CaptureTime, type ClockFields, clockMs, isCaptureTime, offsetOf } from './capture-time.ts';

/** The capture time and the camera in a name. */
export interface NamedCapture {
  /** Absent if the pattern has no date. */
  time?: CaptureTime;
  camera?: string;
}

/** The most characters of a pattern; nobody writes more. */
export const maxPatternLength = 1_000;

/** Expressions for `*` and for a camera: few and bounded, so that no name takes long. */
const skipped = '[^/]{0,255}?';
const cameraPart = '(?<camera>[^/]{1,255}?)';
const maxFree = 2;

/** strftime's letters: the group that has each, and its digits. */
const letters: Record<string, { group: string; digits: string }> = {
  Y: { group: 'year', digits: '\\d{4}' },
  y: { group: 'shortYear', digits: '\\d{2}' },
  m: { group: 'month', digits: '\\d{2}' },
  d: { group: 'day', digits: '\\d{2}' },
  j: { group: 'dayOfYear', digits: '\\d{3}' },
  H: { group: 'hour', digits: '\\d{2}' },
  M: { group: 'minute', digits: '\\d{2}' },
  S: { group: 'second', digits: '\\d{2}' },
  f: { group: 'fraction', digits: '\\d{1,9}' },
  s: { group: 'epoch', digits: '\\d{1,11}' },
  z: { group: 'zone', digits: 'Z|[+-]\\d{2}:?\\d{2}' },
};

type Groups = Partial<Record<string, string>>;

/**
 * Turns a pattern such as `cam{camera}/%Y%m%d/%H%M%S` into a function that reads the end of a path: whole names of
 * files and folders, without the file's extension unless the pattern has it. The function gives undefined for a path
 * that does not fit, or whose date does not exist. Throws CaptureOptionsError for an invalid pattern.
 */
export function parseNamePattern(pattern: string): (path: string) => NamedCapture | undefined {
  const refuse = (what: string): never => {
    const expected = sentence`Expected mtime or a pattern such as cam{camera}/%Y%m%d/%H%M%S for ${named('captured.from')}`;
    throw new CaptureOptionsError(sentence`${expected} but received '${pattern.slice(0, 200)}': ${what}`);
  };
  if (pattern.length > maxPatternLength) refuse(`it is longer than ${maxPatternLength} characters`);
  const groups = new Set<string>();
  const add = (group: string, what: string): void => {
    if (groups.has(group)) refuse(`it has ${what} twice`);
    groups.add(group);
  };
  let free = 0;
  const source = pattern.replace(/%(.?)|\{camera\}|[*]|[^%*]/gsu, (part, letter?: string) => {
    if (part === '{camera}' || part === '*') {
      if (++free > maxFree) refuse(`it has more than ${maxFree} of {camera} and *`);
      if (part === '*') return skipped;
      add('camera', part);
      return cameraPart;
    }
    if (letter === undefined) {
      if (part === '{' || part === '}') refuse('braces are for {camera}; %{ and %} are braces');
      return RegExp.escape(part);
    }
    if ('%{}*'.includes(letter) && letter !== '') return RegExp.escape(letter);
    const known = letters[letter] ?? refuse(`%${letter} is none of %${Object.keys(letters).join(' %')} %% %{ %} %*`);
    add(known.group, part);
    return `(?<${known.group}>${known.digits})`;
  });
  checkGroups(groups, refuse);
  const hasTime = [...groups].some((group) => group !== 'camera');
  const expression = new RegExp(`(?:^|/)${source}(?:\\.[^./]*)?$`, 'su');
  return (path) => {
    const found = expression.exec(path)?.groups;
    const time = found && hasTime ? timeOf(found) : undefined;
    if (!found || (hasTime && !time)) return undefined;
    return { time, camera: found.camera };
  };
}

function checkGroups(groups: ReadonlySet<string>, refuse: (what: string) => never): void {
  const has = (group: string): boolean => groups.has(group);
  if (groups.size === 0) refuse('it has neither a date nor {camera}');
  if ([...groups].every((group) => group === 'camera')) return;
  const fields = ['year', 'shortYear', 'month', 'day', 'dayOfYear', 'hour', 'minute', 'second', 'zone'];
  if (has('epoch')) {
    if (fields.some(has)) refuse('%s is a whole time in UTC, and stands alone or with %f');
    return;
  }
  if (has('year') === has('shortYear')) refuse('a date needs one of %Y and %y, or %s');
  const byMonth = has('month') && has('day');
  if (byMonth === has('dayOfYear') || has('month') !== has('day')) refuse('a date needs %m and %d, or %j');
  if (has('minute') && !has('hour')) refuse('%M needs %H');
  if (has('second') && !has('minute')) refuse('%S needs %M');
  if (has('fraction') && !has('second')) refuse('%f needs %S or %s');
}

function timeOf(groups: Groups): CaptureTime | undefined {
  const millisecond = Math.floor(Number(`0.${groups.fraction ?? 0}`) * 1000);
  if (groups.epoch !== undefined) {
    const time = { localMs: Number(groups.epoch) * 1000 + millisecond, offsetMinutes: 0 };
    return isCaptureTime(time) ? time : undefined;
  }
  const localMs = clockMs({ ...dateOf(groups), ...timeOfDay(groups), millisecond });
  const offsetMinutes = groups.zone === undefined ? undefined : offsetOf(groups.zone);
  if (localMs === undefined || (groups.zone !== undefined && offsetMinutes === undefined)) return undefined;
  return offsetMinutes === undefined ? { localMs } : { localMs, offsetMinutes };
}

const timeOfDay = ({ hour = '0', minute = '0', second = '0' }: Groups) => ({
  hour: Number(hour),
  minute: Number(minute),
  second: Number(second),
});

function dateOf({ year, shortYear, month, day, dayOfYear }: Groups): Pick<ClockFields, 'year' | 'month' | 'day'> {
  // As in POSIX: 69 to 99 are 1969 to 1999.
  const short = Number(shortYear);
  const ofYear = year === undefined ? short + (short < 69 ? 2000 : 1900) : Number(year);
  if (dayOfYear === undefined) return { year: ofYear, month: Number(month), day: Number(day) };
  const date = new Date(Date.UTC(ofYear, 0, Number(dayOfYear)));
  // Day 0 does not exist, and day 366 only in leap years.
  const isDay = date.getUTCFullYear() === ofYear;
  return isDay
    ? { year: ofYear, month: date.getUTCMonth() + 1, day: date.getUTCDate() }
    : { year: ofYear, month: 0, day: 0 };
}
