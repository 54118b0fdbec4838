import { type ByteRange, InputError } from '@halogrid/sources';
import { type Codestream, markers } from './codestream.ts';
import type { ByteSource } from './file-window.ts';

/** Bytes of a segment SOT, with its marker. */
export const partHeadBytes = 12;

/** The most parts of tiles whose places are held. */
const maxParts = 2 ** 18;

const damaged = (how: string): InputError => new InputError('decode', `The JPEG 2000 is damaged: ${how}`);

/** The parts of each tile, in their order. Rejects with InputError, also if a tile has none. */
export async function findTileParts(source: ByteSource, stream: Codestream): Promise<ByteRange[][]> {
  const count = stream.tiles.columns * stream.tiles.rows;
  const parts = statedParts(stream, count) ?? (await listedParts(source, stream, count));
  const missing = parts.findIndex((ofTile) => ofTile.length === 0);
  if (missing >= 0) throw damaged(`it has nothing of tile ${missing} of ${count}`);
  return parts;
}

/** The parts by the segments TLM; undefined unless these account for every byte, as some programs leave them wrong. */
function statedParts({ stated, firstPart, end }: Codestream, count: number): ByteRange[][] | undefined {
  const parts: ByteRange[][] = Array.from({ length: count }, () => []);
  let at = firstPart;
  for (const [i, { tile = i, bytes }] of stated.entries()) {
    if (tile >= count) return undefined;
    parts[tile]!.push({ start: at, end: at + bytes });
    at += bytes;
  }
  // The marker of the end follows.
  return at + 2 === end && parts.every((ofTile) => ofTile.length > 0) ? parts : undefined;
}

/** The parts by the head of each, which has its length. */
async function listedParts(source: ByteSource, { firstPart, end }: Codestream, count: number): Promise<ByteRange[][]> {
  const parts: ByteRange[][] = Array.from({ length: count }, () => []);
  let found = 0;
  for (let at = firstPart; at + 2 <= end; found++) {
    const marker = (await source.bytes(at, 2, 'a part of a tile')).readUInt16BE(0);
    if (marker === 0xff00 + markers.end) break;
    if (found === maxParts) throw new InputError('decode', `The JPEG 2000 has more than ${maxParts} parts of tiles`);
    const head = readPartHead(await source.bytes(at, partHeadBytes, 'a part of a tile'));
    if (!head) throw damaged(`byte ${at} is not a part of a tile`);
    const { tile, bytes } = head;
    // A length of 0: up to the end.
    const next = bytes === 0 ? await lastEnd(source, end) : at + bytes;
    if (tile >= count) throw damaged(`it has a part of tile ${tile}, and ${count} tiles`);
    if (next > end) throw damaged(`a part of tile ${tile} ends at byte ${next}, and the codestream at byte ${end}`);
    if (next < at + partHeadBytes) throw damaged(`a part of tile ${tile} has ${bytes} bytes`);
    parts[tile]!.push({ start: at, end: next });
    at = next;
  }
  return parts;
}

async function lastEnd(source: ByteSource, end: number): Promise<number> {
  const last = (await source.bytes(end - 2, 2, 'the end of the codestream')).readUInt16BE(0);
  return last === 0xff00 + markers.end ? end - 2 : end;
}

/** The tile of a part and its length, 0 for up to the end; undefined if these bytes begin no part. */
export function readPartHead(bytes: Buffer): { tile: number; bytes: number } | undefined {
  if (bytes.length < partHeadBytes || bytes.readUInt32BE(0) !== 0xff90000a) return undefined;
  return { tile: bytes.readUInt16BE(4), bytes: bytes.readUInt32BE(6) };
}
