import { inflateSync, zstdDecompressSync } from 'node:zlib';
import { decodeBloscLz } from './blosclz.ts';
import { decodeLz4 } from './lz4.ts';

const headerBytes = 16;
const flags = { shuffles: 1, isCopy: 2, shufflesBits: 4, isUndivided: 16 } as const;
/** Blocks are divided by the bytes of a sample, unless there are more than 16, or fewer than 128 samples. */
const mostParts = 16;
const leastPartBytes = 128;

/** The codecs inside Blosc by the upper three bits of its flags; all fill `out`, or throw. */
const codecs: readonly { name: string; decode?: (bytes: Uint8Array, out: Uint8Array) => void }[] = [
  { name: 'BloscLZ', decode: decodeBloscLz },
  { name: 'LZ4', decode: decodeLz4 },
  { name: 'Snappy' },
  { name: 'zlib', decode: (bytes, out) => fill(out, inflateSync(bytes, { maxOutputLength: out.length })) },
  { name: 'Zstandard', decode: (bytes, out) => fill(out, zstdDecompressSync(bytes, { maxOutputLength: out.length })) },
];

/** Decodes a chunk of Blosc 1, which becomes `most` bytes at most. Throws for damaged bytes. */
export function decodeBlosc(bytes: Uint8Array, most: number): Uint8Array {
  if (bytes.length < headerBytes) throw new Error('it is shorter than the header of Blosc');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const [flag, sampleBytes] = [bytes[2]!, bytes[3]!];
  const [length, blockBytes, ownBytes] = [4, 8, 12].map((at) => view.getUint32(at, true)) as [number, number, number];
  if (length > most) throw new Error(`its header promises ${length} bytes, more than the chunk has`);
  if (ownBytes !== bytes.length) throw new Error(`it has ${bytes.length} bytes, and its header says ${ownBytes}`);
  const out = new Uint8Array(length);
  if (flag & flags.isCopy) return fill(out, bytes.subarray(headerBytes));
  const { name, decode } = codecs[flag >> 5] ?? { name: `codec ${flag >> 5}` };
  if (!decode) throw new Error(`it is compressed by ${name} inside Blosc, which is not read`);
  if (length > 0 && (blockBytes === 0 || sampleBytes === 0)) throw new Error('the header of its Blosc is damaged');
  const plain = new Uint8Array(Math.min(blockBytes, length));
  for (let block = 0, begin = 0; begin < length; block++, begin += blockBytes) {
    const isRest = length - begin < blockBytes;
    const part = out.subarray(begin, begin + Math.min(blockBytes, length - begin));
    const isDivided =
      !(flag & flags.isUndivided) && !isRest && sampleBytes <= mostParts && blockBytes / sampleBytes >= leastPartBytes;
    const isShuffled = (flag & flags.shuffles && sampleBytes > 1) || flag & flags.shufflesBits;
    const decoded = isShuffled ? plain.subarray(0, part.length) : part;
    const at = headerBytes + 4 * block;
    if (at + 4 > bytes.length) throw new Error('it ends inside the places of its blocks');
    readBlock(view, view.getUint32(at, true), isDivided ? sampleBytes : 1, decoded, decode);
    if (flag & flags.shufflesBits) unshuffleBits(decoded, sampleBytes, part);
    else if (isShuffled) unshuffle(decoded, sampleBytes, part);
  }
  return out;
}

/** Reads the parts of a block: the length of each, and then its bytes, which are as they are if they are as many. */
function readBlock(
  view: DataView,
  start: number,
  parts: number,
  out: Uint8Array,
  decode: (bytes: Uint8Array, out: Uint8Array) => void,
): void {
  const partBytes = Math.floor(out.length / parts);
  if (partBytes * parts !== out.length) throw new Error('its blocks cannot be divided by their samples');
  for (let part = 0, at = start; part < parts; part++) {
    const length = at + 4 > view.byteLength ? Number.POSITIVE_INFINITY : view.getUint32(at, true);
    at += 4;
    if (at + length > view.byteLength) throw new Error('it ends inside a block');
    const bytes = new Uint8Array(view.buffer, view.byteOffset + at, length);
    const place = out.subarray(part * partBytes, (part + 1) * partBytes);
    if (length === partBytes) place.set(bytes);
    else decode(bytes, place);
    at += length;
  }
}

/** The first bytes of all samples come first, then the second ones, and so on; what is left over is as it was. */
function unshuffle(from: Uint8Array, sampleBytes: number, to: Uint8Array): void {
  const samples = Math.floor(from.length / sampleBytes);
  for (let byte = 0; byte < sampleBytes; byte++) {
    for (let i = 0, at = byte; i < samples; i++, at += sampleBytes) to[at] = from[byte * samples + i]!;
  }
  to.set(from.subarray(samples * sampleBytes), samples * sampleBytes);
}

/** The same for bits, lowest first, if the number of samples can be divided by 8. */
function unshuffleBits(from: Uint8Array, sampleBytes: number, to: Uint8Array): void {
  const samples = Math.floor(from.length / sampleBytes);
  if (samples % 8 > 0) return void to.set(from);
  const row = samples / 8;
  for (let byte = 0; byte < sampleBytes; byte++) {
    for (let i = 0, at = byte; i < row; i++, at += 8 * sampleBytes) {
      transpose(from, 8 * byte * row + i, row, to, at, sampleBytes);
    }
  }
  to.set(from.subarray(samples * sampleBytes), samples * sampleBytes);
}

/**
 * Transposes 8 x 8 bits: bit k of the byte at `start + b * step` becomes bit b of the byte at `at + k * distance`. The
 * words hold four bytes each, the last byte highest (Warren, Hacker's Delight, section 7-3).
 */
function transpose(from: Uint8Array, start: number, step: number, to: Uint8Array, at: number, distance: number): void {
  let x = 0;
  let y = 0;
  for (let i = 3; i >= 0; i--) {
    x = (x << 8) | from[start + (i + 4) * step]!;
    y = (y << 8) | from[start + i * step]!;
  }
  let swapped = (x ^ (x >>> 7)) & 0x00aa00aa;
  x ^= swapped ^ (swapped << 7);
  swapped = (y ^ (y >>> 7)) & 0x00aa00aa;
  y ^= swapped ^ (swapped << 7);
  swapped = (x ^ (x >>> 14)) & 0x0000cccc;
  x ^= swapped ^ (swapped << 14);
  swapped = (y ^ (y >>> 14)) & 0x0000cccc;
  y ^= swapped ^ (swapped << 14);
  const high = (x & 0xf0f0f0f0) | ((y >>> 4) & 0x0f0f0f0f);
  const low = ((x << 4) & 0xf0f0f0f0) | (y & 0x0f0f0f0f);
  for (let k = 0; k < 4; k++) {
    to[at + k * distance] = low >>> (8 * k);
    to[at + (k + 4) * distance] = high >>> (8 * k);
  }
}

function fill(out: Uint8Array, bytes: Uint8Array): Uint8Array {
  if (bytes.length !== out.length) throw new Error(`a part of it has ${bytes.length} bytes, not ${out.length}`);
  out.set(bytes);
  return out;
}
