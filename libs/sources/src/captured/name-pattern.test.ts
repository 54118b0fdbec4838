import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { timesAsLong } from '../testing/times-as-long.ts';
import { CaptureOptionsError } from './capture-options-error.ts';
import { captureText } from './capture-time.ts';
import { parseNamePattern } from './name-pattern.ts';

/** `CAMERA TIME`, or undefined. */
function read(pattern: string, path: string): string | undefined {
  const found = parseNamePattern(pattern)(path);
  return found && [found.camera, found.time && captureText(found.time)].filter((part) => part !== undefined).join(' ');
}

// Times by date(1) of GNU coreutils 9.1, unless they are in the name as they stand.
const fitting: [pattern: string, path: string, expected: string][] = [
  ['cam{camera}/%Y%m%d/%H%M%S', '/data/camnorth/20260131/080000.jpg', 'north 2026-01-31T08:00:00.000'],
  ['{camera}_%Y-%m-%d', '/a_b/gate_2_2026-01-31.jpeg', 'gate_2 2026-01-31T00:00:00.000'],
  ['%Y%m%d_%H%M%S*', '/data/20260131_080000~2.jpg', '2026-01-31T08:00:00.000'],
  ['IMG_%y%j', '/IMG_26366.jpg', ''],
  ['IMG_%y%j', '/IMG_24366.jpg', '2024-12-31T00:00:00.000'],
  ['%y%m%d', '/690101.png', '1969-01-01T00:00:00.000'],
  ['%y%m%d', '/680101.png', '2068-01-01T00:00:00.000'],
  ['%Y%m%dT%H%M%S.%f%z', '/20260131T080000.25+0200.tif', '2026-01-31T08:00:00.250+02:00'],
  ['%Y%m%dT%H%MZ%%', '/20260131T0800Z%.tif', '2026-01-31T08:00:00.000'],
  ['%Y%m%dT%H%M%z', '/20260131T0800Z.tif', '2026-01-31T08:00:00.000+00:00'],
  ['%s', '/1769842800.jpg', '2026-01-31T07:00:00.000+00:00'],
  ['%s.%f', '/1769842800.1239.jpg', '2026-01-31T07:00:00.123+00:00'],
  ['{camera}/*', '/site/north/000001.jpg', 'north'],
  ['%{%*%}(%Y)/%m.%d', '/{*}(2026)/01.31', '2026-01-31T00:00:00.000'],
];

test('names are read from the end of a path, folders and files whole', () => {
  for (const [pattern, path, expected] of fitting) assert.equal(read(pattern, path) ?? '', expected, pattern);
});

test('a name that does not fit, or has an impossible date, is not read', () => {
  const table: [pattern: string, path: string][] = [
    ['cam{camera}/%Y%m%d', '/data/webcamnorth/20260131.jpg'],
    ['%Y%m%d', '/20260230.jpg'],
    ['%Y%m%d', '/20261301.jpg'],
    ['%Y%m%d', '/20260131/a.jpg'],
    ['%Y%m%d', '/120260131.jpg'],
    ['%Y%m%d%H', '/2026013124.jpg'],
    ['%Y%m%d%H%M%S', '/20261231235960.jpg'],
    ['%Y%j', '/2026000.jpg'],
    ['{camera}/%Y%m%d', '/20260131.jpg'],
    ['%Y%m%d%z', '/20260131+19:00.jpg'],
    ['%Y%m%d', '/20260131\n.jpg'],
  ];
  for (const [pattern, path] of table) assert.equal(read(pattern, path), undefined, `${pattern} ${path}`);
});

test('an invalid pattern is refused with one sentence', () => {
  const table: [pattern: string, why: string][] = [
    ['%Y%m', 'a date needs %m and %d, or %j'],
    ['%Y%m%d%j', 'a date needs %m and %d, or %j'],
    ['%m%d', 'a date needs one of %Y and %y, or %s'],
    ['%Y%y%m%d', 'a date needs one of %Y and %y, or %s'],
    ['%Y%m%d%S', '%S needs %M'],
    ['%Y%m%d%M', '%M needs %H'],
    ['%Y%m%d%f', '%f needs %S or %s'],
    ['%s%H', '%s is a whole time in UTC, and stands alone or with %f'],
    ['%Y%Y%m%d', 'it has %Y twice'],
    ['{camera}{camera}', 'it has {camera} twice'],
    ['frame', 'it has neither a date nor {camera}'],
    ['%Y%m%d{site}', 'braces are for {camera}; %{ and %} are braces'],
    ['%Y%b%d', '%b is none of %Y %y %m %d %j %H %M %S %f %s %z %% %{ %} %*'],
    ['%Y%m%d%', '% is none of %Y %y %m %d %j %H %M %S %f %s %z %% %{ %} %*'],
    ['*{camera}*', 'it has more than 2 of {camera} and *'],
  ];
  for (const [pattern, why] of table) {
    assert.throws(() => parseNamePattern(pattern), {
      name: 'CaptureOptionsError',
      message: `Expected mtime or a pattern such as cam{camera}/%Y%m%d/%H%M%S for captured.from but received '${pattern}': ${why}`,
    });
  }
});

test('any text is a pattern or refused, and every moment is read as it was written', () => {
  const part = fc.oneof(fc.string(), fc.constantFrom('%Y', '%m', '%d', '%', '{', '{camera}', '*', '(', '[', '/', '.'));
  fc.assert(
    fc.property(fc.array(part), fc.string(), (parts, path) => {
      try {
        parseNamePattern(parts.join(''))(path);
      } catch (error) {
        assert.ok(error instanceof CaptureOptionsError);
      }
    }),
  );
  const moment = fc.date({ min: new Date('1000-01-01'), max: new Date('9999-12-31'), noInvalidDate: true });
  fc.assert(
    fc.property(moment, (date) => {
      const text = date.toISOString();
      assert.equal(read('%Y-%m-%dT%H:%M:%S.%f%z', `/a/${text}`), text.replace('Z', '+00:00'));
    }),
  );
});

test('a long name that nearly fits takes no longer than a short one', () => {
  const pattern = parseNamePattern('*{camera}%Y%m%d');
  const readOf = (length: number) => () => {
    for (let i = 0; i < 20; i++) assert.equal(pattern(`/${'2'.repeat(length)}x`), undefined);
  };
  const times = timesAsLong(readOf(20_000), readOf(800));
  assert.ok(times < 10, `${times} times as long`);
});
