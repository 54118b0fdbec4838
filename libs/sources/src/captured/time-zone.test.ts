import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseZone } from './time-zone.ts';

const utc = (zone: string, clock: string): string => new Date(parseZone(zone)(Date.parse(`${clock}Z`))).toISOString();

// By Python's zoneinfo 3.11: datetime(…, fold=0, tzinfo=ZoneInfo(ZONE)).astimezone(UTC), which follows the same rule.
const places: [zone: string, clock: string, expected: string][] = [
  ['Europe/Berlin', '2026-01-31T08:00:00.250', '2026-01-31T07:00:00.250Z'],
  ['Europe/Berlin', '2026-03-29T01:59:59.999', '2026-03-29T00:59:59.999Z'],
  ['Europe/Berlin', '2026-03-29T02:30:00', '2026-03-29T01:30:00.000Z'],
  ['Europe/Berlin', '2026-03-29T03:00:00', '2026-03-29T01:00:00.000Z'],
  ['Europe/Berlin', '2026-10-25T02:30:00', '2026-10-25T00:30:00.000Z'],
  ['Europe/Berlin', '2026-10-25T03:00:00', '2026-10-25T02:00:00.000Z'],
  ['America/St_Johns', '2010-03-14T00:00:59', '2010-03-14T03:30:59.000Z'],
  ['America/St_Johns', '2010-03-14T00:01:00', '2010-03-14T03:31:00.000Z'],
  ['America/St_Johns', '2010-03-14T01:01:00', '2010-03-14T03:31:00.000Z'],
  ['Australia/Lord_Howe', '2026-04-05T01:45:00', '2026-04-04T14:45:00.000Z'],
  ['Asia/Kathmandu', '2026-06-01T00:00:00', '2026-05-31T18:15:00.000Z'],
];

test('clocks of places are as another program tells them, also when they are put forward and back', () => {
  for (const [zone, clock, expected] of places) assert.equal(utc(zone, clock), expected, `${zone} ${clock}`);
});

test('one zone reads times in any order', () => {
  const berlin = parseZone('Europe/Berlin');
  const of = places.filter(([zone]) => zone === 'Europe/Berlin');
  for (const [, clock, expected] of [...of, ...of.toReversed()]) {
    assert.equal(new Date(berlin(Date.parse(`${clock}Z`))).toISOString(), expected);
  }
});

test('offsets are taken as they are written', () => {
  assert.equal(utc('+02:00', '2026-01-31T08:00:00'), '2026-01-31T06:00:00.000Z');
  assert.equal(utc('-0930', '2026-01-31T08:00:00'), '2026-01-31T17:30:00.000Z');
  assert.equal(utc('UTC', '2026-01-31T08:00:00'), '2026-01-31T08:00:00.000Z');
  assert.equal(utc('Z', '2026-01-31T08:00:00'), '2026-01-31T08:00:00.000Z');
});

test('an invalid zone is refused with one sentence', () => {
  for (const text of ['Europe/Nowhere', '+25:00', '02:00', 'local time', '2026-01-01T00:00[Europe/Berlin]', '../etc']) {
    assert.throws(() => parseZone(text), {
      name: 'CaptureOptionsError',
      message: `Expected a time zone such as Europe/Berlin, UTC or +02:00 for captured.zone but received '${text}'`,
    });
  }
});
