import assert from 'node:assert/strict';
import { test } from 'node:test';
import { captureText } from '@halogrid/sources/capture-time';
import { repeated } from '@halogrid/testing';
import fc from 'fast-check';
import { exifTime, exifTimeOf } from './exif-time.ts';
import { jpegSegment } from './jpeg-segment.ts';

/*
 * By ExifTool 12.57: -DateTimeOriginal='2026:01:31 08:00:00' with -SubSecTimeOriginal=250 -OffsetTimeOriginal=+02:00,
 * most significant byte first; and with -SubSecTimeOriginal=7 alone, least significant byte first.
 */
const big = Buffer.from(
  'TU0AKgAAAAgABQEaAAUAAAABAAAASgEbAAUAAAABAAAAUgEoAAMAAAABAAIAAAITAAMAAAABAAEAAIdpAAQAAAABAAAAWgAAAAAAAABIAAAAAQAAAEgAAAABAAeQAAAHAAAABDAyMzKQAwACAAAAFAAAALSQEQACAAAABwAAAMiRAQAHAAAABAECAwCSkQACAAAABDI1MACgAAAHAAAABDAxMDCgAQADAAAAAf//AAAAAAAAMjAyNjowMTozMSAwODowMDowMAArMDI6MDAAAA==',
  'base64',
);
const little = Buffer.from(
  'SUkqAAgAAAAFABoBBQABAAAASgAAABsBBQABAAAAUgAAACgBAwABAAAAAgAAABMCAwABAAAAAQAAAGmHBAABAAAAWgAAAAAAAABIAAAAAQAAAEgAAAABAAAABgAAkAcABAAAADAyMzIDkAIAFAAAAKgAAAABkQcABAAAAAECAwCRkgIAAgAAADcAAAAAoAcABAAAADAxMDABoAMAAQAAAP//AAAAAAAAMjAyNjowMTozMSAwODowMDowMAA=',
  'base64',
);

const read = (exif: Uint8Array): string | undefined => {
  const time = exifTime(exif);
  return time && captureText(time);
};

test('the time that another program wrote is read, in either order of bytes, with or without the word before it', () => {
  const word = Buffer.from('Exif\0\0');
  for (const [exif, expected] of [
    [big, '2026-01-31T08:00:00.250+02:00'],
    [little, '2026-01-31T08:00:00.700'],
  ] as const) {
    assert.equal(read(exif), expected);
    assert.equal(read(Buffer.concat([word, exif])), expected);
    const length = Buffer.from([0, 0]);
    length.writeUInt16BE(2 + word.length + exif.length);
    const jpeg = Buffer.concat([
      Buffer.from('ffd8ffe000040000ffffe1', 'hex'),
      length,
      word,
      exif,
      Buffer.from('ffda', 'hex'),
    ]);
    assert.equal(read(jpegSegment(jpeg, 'exif')!), expected);
  }
});

test('Exif with an impossible time gives none, and an impossible offset is left out', () => {
  const time = '2026:01:31 08:00:00';
  const told = (texts: Parameters<typeof exifTimeOf>[0]): string | undefined => {
    const found = exifTimeOf(texts);
    return found && captureText(found);
  };
  for (const none of ['', '    :  :     :  :  ', '0000:00:00 00:00:00', '2026:02:30 08:00:00', '2026-01-31 08:00:00']) {
    assert.equal(told({ time: none }), undefined);
  }
  assert.equal(told({ time: `${time}\0`, offset: '   :  ', fraction: ' ' }), '2026-01-31T08:00:00.000');
  assert.equal(told({ time, offset: '+19:00' }), '2026-01-31T08:00:00.000');
  assert.equal(told({ time, offset: 'Z', fraction: '1239 ' }), '2026-01-31T08:00:00.123+00:00');
});

test('damage of any kind gives a time or none, and nothing is read twice', (t) => {
  const damage = fc.array(fc.tuple(fc.nat(big.length - 1), fc.nat(255)), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(fc.constantFrom(big, little), damage, fc.nat(big.length), (exif, changes, length) => {
      const bytes = Uint8Array.from(exif);
      for (const [at, value] of changes) bytes[at] = value;
      read(bytes.subarray(0, length));
      jpegSegment(bytes, 'exif');
    }),
    { numRuns: repeated(500, 5_000) },
  );
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      read(bytes);
      jpegSegment(Uint8Array.from([0xff, 0xd8, ...bytes]), 'exif');
    }),
  );
  // A directory with the most entries possible, all of them unknown.
  const full = Buffer.alloc(12 * 65_535 + 16);
  full.write('MM\0*\0\0\0\x08', 'latin1');
  full.writeUInt16BE(65_535, 8);
  const reads = t.mock.method(DataView.prototype, 'getUint16').mock;
  assert.equal(read(full), undefined);
  assert.ok(reads.callCount() < 65_535 + 10, `${reads.callCount()} reads`);
});
