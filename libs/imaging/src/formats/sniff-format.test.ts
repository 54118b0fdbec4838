import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sniffFormat } from './sniff-format.ts';

const latin1 = (text: string) => Buffer.from(text, 'latin1');

test('supported formats are told by their first bytes', () => {
  assert.equal(sniffFormat(latin1('\xff\xd8\xff\xe0')), 'jpeg');
  assert.equal(sniffFormat(latin1('\x89PNG\r\n\x1a\n')), 'png');
  assert.equal(sniffFormat(latin1('RIFF1234WEBPVP8L')), 'webp');
  for (const start of ['II*\0', 'MM\0*', 'II+\0', 'MM\0+']) assert.equal(sniffFormat(latin1(start)), 'tiff');
  assert.equal(sniffFormat(latin1('GIF87a')), 'gif');
  assert.equal(sniffFormat(latin1('BM6\0\0\0\0\0\0\x006\0')), 'bmp');
  assert.equal(sniffFormat(latin1('\0\0\0\x1cftypavif')), 'avif');
  for (const start of ['P2 ', 'P3\n', 'P5#', 'P6\r']) assert.equal(sniffFormat(latin1(start)), 'pnm');
});

const unsupported: [start: string, name: string][] = [
  ['\0\0\0\x1cftypheic', 'HEIF'],
  ['\0\0\0\x1cftypisom', 'Video (MP4 or QuickTime)'],
  ['\xff\x0a\xfa', 'JPEG XL'],
  ['P4 8 8\n', 'PBM'],
  ['Pf\n', 'PFM'],
  ['\x76\x2f\x31\x01', 'OpenEXR'],
  ['%PDF-1.7', 'PDF'],
  ['<svg xmlns="…">', 'SVG'],
  ['\xef\xbb\xbf<?xml version="1.0"?>\n<!-- c -->\n<!DOCTYPE svg>\n<svg>', 'SVG'],
  ['\x1f\x8b\x08', 'gzip'],
  ['\0\0\0\x18ftypcrx \0\0\0\x01', 'Camera raw'],
  [`${'\0'.repeat(128)}DICM\x02\0`, 'DICOM'],
  ['8BPS\0\x01', 'Photoshop'],
  ['%!PS-Adobe-3.0', 'PostScript'],
];

for (const [start, name] of unsupported) {
  test(`${name} is refused by name: ${JSON.stringify(start)}`, () => {
    const message = `${name} is not supported: JPEG, PNG, WebP, TIFF, PGM, PPM, BMP, GIF, AVIF, JPEG 2000 and OME-Zarr are supported`;
    assert.throws(() => sniffFormat(latin1(start)), { name: 'InputError', stage: 'decode', message });
  });
}

// Signatures as `xxd` shows them of files that ffmpeg 5.1 wrote.
const videos: [start: string, name: string][] = [
  ['3026b2758e66cf11a6d900aa0062ce6c', 'Windows Media (WMV)'],
  ['464c5601010000000900000000120000', 'Flash video (FLV)'],
  ['000001b304003023ffffe018000001b5', 'A raw MPEG-1 or MPEG-2 stream'],
  // SMPTE 377.
  ['060e2b34020501010d01020101020400', 'MXF'],
];

test('an unsupported video format is refused with the supported ones, and how to make one of them', () => {
  for (const [hex, name] of videos) {
    const start = Buffer.from(hex, 'hex');
    const read = 'videos in MP4, Matroska, AVI, MPEG-TS and MPEG-PS are';
    const how = 'ffmpeg -i IN -c copy OUT.mp4 makes one of it where it holds H.264, H.265, AV1, VP9, MJPEG or MPEG-4';
    assert.throws(() => sniffFormat(start), { stage: 'decode', message: `${name} is not supported: ${read}; ${how}` });
  }
});

test('a fragment of an MP4 is refused with what it lacks', () => {
  for (const box of ['moof', 'styp', 'sidx']) {
    assert.throws(() => sniffFormat(latin1(`\0\0\0\xb0${box}\0\0`)), {
      stage: 'decode',
      message: /^A fragment of an MP4 without the beginning of its recording \(moov\) is not supported: .*: cat INIT/,
    });
  }
});

test('a name tells what first bytes do not', () => {
  const refusal = (name: string) => ({ message: new RegExp(`^${name} is not supported: JPEG, PNG, `) });
  for (const name of ['/a/b.NEF', 'file:///a/b.cr2', 'b.arw']) {
    for (const start of ['II*\0', 'MM\0*'])
      assert.throws(() => sniffFormat(latin1(start), name), refusal('Camera raw'));
    // A file that does not begin like a raw file keeps the format of its content.
    assert.equal(sniffFormat(latin1('\xff\xd8\xff\xe0'), name), 'jpeg');
  }
  assert.throws(() => sniffFormat(latin1('II*\0'), 'a.vsi'), refusal('A slide of Olympus .*'));
  for (const name of ['a.scn', 'a.BIF', 'file:///a.mrxs', 'a.vms', 'a.svslide']) {
    for (const start of ['II*\0', '\xff\xd8\xff\xe0', '[Virtual Microscope'])
      assert.equal(sniffFormat(latin1(start), name), 'slide');
  }
  assert.throws(() => sniffFormat(latin1('\0\0\x02'), 'a.tga'), refusal('Targa'));
  assert.throws(() => sniffFormat(latin1('\xff\xd8\xff\xdb'), 'a.mjpg'), {
    message: /^A raw MJPEG stream is not .* ffmpeg/,
  });
  for (const name of ['a.svs', 'a.ndpi', 'a.btf', 'a.tf8', 'nef', 'a.nef/b', 'a.dng']) {
    assert.equal(sniffFormat(latin1('II+\0'), name), 'tiff');
  }
  assert.throws(() => sniffFormat(latin1('\0\0\x02'), 'a.dav'), {
    message:
      /^A recording of a Dahua recorder that is encrypted .* is not supported: export it as MP4 by the recorder's /,
  });
  // A file of that format would have its first bytes, so this is another format.
  assert.throws(() => sniffFormat(latin1('text'), 'a.mxf'), {
    message: /^Not an image: the file starts with the text /,
  });
});

test('anything else is refused with what it starts with', () => {
  const refusal = (start: string) => {
    try {
      return sniffFormat(latin1(start));
    } catch (error) {
      return (error as Error).message;
    }
  };
  assert.equal(refusal('x'), 'Not an image: the file starts with the text "x"');
  assert.equal(
    refusal('<!doctype html><html><body>Not found'),
    'Not an image: the file starts with the text "<!doctype html><html><bo"',
  );
  assert.equal(refusal('\0\x01\x02'), 'Not an image: the file starts with the bytes 00 01 02');
  assert.equal(refusal('\xff\xd8'), 'Not an image: the file starts with the bytes ff d8');
  assert.equal(
    refusal('BM is not always a bitmap'),
    'Not an image: the file starts with the text "BM is not always a bitma"',
  );
});
