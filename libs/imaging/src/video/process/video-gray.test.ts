import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { noFfmpeg } from '../testing/videos.ts';
import { expandedLuma, lumaFormat } from './video-gray.ts';

test('black and white of the limited range in BT.601 and BT.2100 become 0 and 255 of 8 bits', () => {
  for (const [bits, black, white] of [
    [8, 16, 235],
    [10, 64, 940],
    [12, 256, 3760],
  ] as const) {
    const table = expandedLuma(bits);
    const ends = [0, black, white, 2 ** bits - 1].map((luma) => table[luma]);
    assert.deepEqual(ends, [0, 0, 255 * 2 ** (bits - 8), 2 ** bits - 1]);
    assert.ok(table[black + 1]! > 0 && table[white - 1]! < table[white]!);
  }
});

for (const bits of [9, 10, 12, 14]) {
  test(`every value of ${bits} bits is expanded as ffmpeg does it`, { skip: noFfmpeg }, () => {
    const ramp = Buffer.from(Uint16Array.from({ length: 2 ** bits }, (_, luma) => luma).buffer);
    const chroma = Buffer.from(new Uint16Array(2 ** bits * 2).fill(2 ** (bits - 1)).buffer);
    const args = `-v error -f rawvideo -pix_fmt yuv444p${bits}le -s 64x${2 ** bits / 64} -color_range tv -i - -f rawvideo -pix_fmt gray${bits}le -`;
    const output = execFileSync('ffmpeg', args.split(' '), { input: Buffer.concat([ramp, chroma]) });
    const expected = new Uint16Array(output.buffer, output.byteOffset, output.length / 2);
    assert.deepEqual(expandedLuma(bits), expected.slice());
  });
}

test('formats without luma of 8 to 14 bits in their first plane are not supported', () => {
  for (const format of [
    'gbrp10le',
    'yuyv422',
    'rgb24',
    'yuva420p10le',
    'yuv420p10be',
    'yuv420p16le',
    'x2rgb10le',
    '',
  ]) {
    assert.equal(lumaFormat(format), undefined, format);
  }
});
