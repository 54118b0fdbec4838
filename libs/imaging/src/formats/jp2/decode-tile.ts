import { InputError } from '@halogrid/sources';
import type { Samples } from '../tiff/scale-samples.ts';
import type { Codestream } from './codestream.ts';
import { decodeOnThread } from './decode-threads.ts';
import { selectComponents } from './select-components.ts';
import { areaAt, tileOf, tileStream } from './tile-stream.ts';

/** The most samples of a tile, which is decoded as a whole: the decoder holds six to eight bytes for each. */
const maxTileSamples = 2 ** 27;

/** The most encoded bytes of a tile. */
const maxTileBytes = 2 ** 29;

/** Throws InputError if a tile of the largest size is too large to be decoded, its sides halved `level` times. */
export function checkTileSize(stream: Codestream, level: number): void {
  const { x0, y0, x1, y1, tiles, components } = stream;
  const width = Math.ceil(Math.min(tiles.width, x1 - x0) / 2 ** level);
  const height = Math.ceil(Math.min(tiles.height, y1 - y0) / 2 ** level);
  const samples = width * height * components;
  if (samples <= maxTileSamples) return;
  throw new InputError(
    'decode',
    `A tile of the JPEG 2000 has ${width}x${height} pixels of ${components} samples, and at most ${maxTileSamples} samples are decoded at once: gdal_translate -of JP2OpenJPEG makes tiles of 1024x1024`,
  );
}

/**
 * The samples of the chosen components of a tile, side by side, rows without gaps, its sides halved `level` times.
 * `parts`: the bytes of its parts. Rejects with InputError, which names the tile.
 */
export async function decodeTile(
  stream: Codestream,
  number: number,
  parts: readonly Buffer[],
  { level, components: chosen }: { level: number; components: readonly number[] },
): Promise<Samples> {
  const { bits, isSigned, components } = stream;
  const damaged = (why: string): InputError =>
    new InputError('decode', `Tile ${number} of the JPEG 2000 is damaged: ${why}`);
  const encoded = parts.reduce((sum, { length }) => sum + length, 0);
  if (encoded > maxTileBytes) throw damaged(`it has ${encoded} bytes, and at most ${maxTileBytes} are read`);
  const alone = tileStream(stream, number, parts);
  if (!alone) throw damaged('its place has a part of another tile');
  const tile = tileOf(stream, number);
  const [full, halved] = [areaAt(tile, stream, 0), areaAt(tile, stream, level)];
  const areAll = chosen.length === components && chosen.every((component, i) => component === i);
  const file = areAll ? alone : selectComponents(alone, { ...full, bits, components }, chosen);
  const order = { file: Uint8Array.from(file), level, components: chosen.length, bits, full, halved };
  const decoded = await decodeOnThread(order, halved.width * halved.height * components);
  if ('whyNot' in decoded) throw damaged(decoded.whyNot);
  return numbers(decoded.bytes, bits, isSigned);
}

/** Samples of 1 or 2 bytes, in the byte order of WebAssembly. Signed ones have come with 2^(bits - 1) added. */
function numbers(bytes: Uint8Array<ArrayBuffer>, bits: number, isSigned: boolean): Samples {
  const unsigned = bits > 8 ? new Uint16Array(bytes.buffer, 0, bytes.length / 2) : bytes;
  if (!isSigned) return unsigned;
  const zero = 2 ** (bits - 1);
  const signed = bits > 8 ? new Int16Array(unsigned.length) : new Int8Array(unsigned.length);
  for (let i = 0; i < signed.length; i++) signed[i] = unsigned[i]! - zero;
  return signed;
}
