import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lacksRate } from './avi-rate.ts';

/** The headers of an AVI file with one stream, as far as its rate is in them. */
function aviHeader(frameUs: number, scale: number, rate: number): Buffer {
  const main = Buffer.alloc(64);
  main.write('avih', 0, 'latin1');
  main.writeUInt32LE(56, 4);
  main.writeUInt32LE(frameUs, 8);
  const stream = Buffer.alloc(64);
  stream.write('strh', 0, 'latin1');
  stream.writeUInt32LE(56, 4);
  stream.write('vidsMJPG', 8, 'latin1');
  stream.writeUInt32LE(scale, 28);
  stream.writeUInt32LE(rate, 32);
  const list = (name: string) => Buffer.from(`LIST\0\0\0\0${name}`, 'latin1');
  return Buffer.concat([Buffer.from('RIFF\0\0\0\0AVI ', 'latin1'), list('hdrl'), main, list('strl'), stream]);
}

const lacks = (bytes: Buffer) => lacksRate({ read: (position, length) => bytes.subarray(position, position + length) });

for (const [frameUs, scale, rate, expected] of [
  [40_000, 1, 25, false],
  [0, 1001, 30_000, false],
  [40_000, 0, 0, false],
  [0, 0, 25, true],
  [0, 1, 0, true],
] as const) {
  test(`an AVI of ${frameUs} µs a frame, ${rate}/${scale} a second ${expected ? 'lacks' : 'has'} a rate`, () => {
    assert.equal(lacks(aviHeader(frameUs, scale, rate)), expected);
  });
}

test('other containers have times, and a file that cannot be read is not said to lack a rate', () => {
  const whole = aviHeader(0, 0, 0);
  for (const bytes of [Buffer.alloc(0), whole.subarray(0, 100), Buffer.from('\x1a\x45\xdf\xa3 Matroska', 'latin1')]) {
    assert.equal(lacks(bytes), false);
  }
});
