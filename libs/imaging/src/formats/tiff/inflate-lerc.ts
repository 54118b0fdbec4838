import { promisify } from 'node:util';
import { inflate, zstdDecompress } from 'node:zlib';
import { InputError } from '@halogrid/sources';
import { type LercBlock, lercBlobs } from './lerc-blobs.ts';
import { decodeLerc } from './lerc-decoder.ts';

/** What LercParameters says about how blobs are compressed once more, by its number. */
export const lercPackings = ['none', 'deflate', 'zstd'] as const;
export type LercPacking = (typeof lercPackings)[number];

const unpackers = { none: undefined, deflate: promisify(inflate), zstd: promisify(zstdDecompress) };

/** The most bytes that a block is decoded to: some copies of it are held in memory. */
const maxDecodedBytes = 2 ** 27;

/**
 * The samples of a block in LERC, interleaved, as bytes in the order of the file: libtiff swaps the bytes of a
 * big-endian file before it encodes them. A pixel without a value is NaN, or 0
 * in integers, as libtiff has it. `mostPacked`: the most bytes that the blobs of such a block take. Rejects with
 * InputError, which names the block.
 */
export async function inflateLerc(
  bytes: Uint8Array,
  block: LercBlock,
  { name, packing, mostPacked }: { name: string; packing: LercPacking; mostPacked: number },
): Promise<Uint8Array> {
  const { width, height, samples, bits } = block;
  const length = (width * height * samples * bits) / 8;
  if (length > maxDecodedBytes) {
    throw new InputError(
      'decode',
      `The TIFF's ${name} has ${length} bytes decoded, and at most ${maxDecodedBytes} of LERC are held: write it in tiles`,
    );
  }
  const unpack = unpackers[packing];
  const unpacked = unpack ? await unpack(bytes, { maxOutputLength: mostPacked }).catch(() => undefined) : bytes;
  const blobs = unpacked && lercBlobs(unpacked, block);
  const decoded = blobs && (await decodeLerc(unpacked, { ...block, ...blobs }, bits / 8));
  if (!decoded) throw new InputError('decode', `The TIFF data is damaged or cut off in ${name}`);
  const { bands, depth } = blobs;
  const pixels = width * height;
  const size = bits / 8;
  const { data, masks } = decoded;
  const noValue = block.kind === 'float' ? bytesOfNaN(bits) : new Uint8Array(size);
  const hasAlpha = bands * depth < samples;
  const isWhole = bands === 1 && !hasAlpha;
  const all = isWhole ? data : new Uint8Array(length);
  for (let band = 0; band < bands; band++) {
    for (let pixel = 0; pixel < pixels; pixel++) {
      const hasValue = masks[band * pixels + pixel] !== 0;
      if (isWhole && hasValue) continue;
      for (let sample = 0; sample < depth; sample++) {
        const from = ((band * pixels + pixel) * depth + sample) * size;
        const to = (pixel * samples + band * depth + sample) * size;
        for (let i = 0; i < size; i++) all[to + i] = hasValue ? data[from + i]! : noValue[i]!;
      }
    }
  }
  if (hasAlpha) for (let i = 0; i < pixels; i++) all[i * samples + samples - 1] = masks[i] ? 255 : 0;
  return all;
}

const bytesOfNaN = (bits: number): Uint8Array =>
  new Uint8Array((bits === 32 ? Float32Array.of(Number.NaN) : Float64Array.of(Number.NaN)).buffer);
