import { InputError } from '@halogrid/sources';
import type { ByteSource } from './file-window.ts';

/** What the main header of a JPEG 2000 codestream says. Places are on its reference grid. */
export interface Codestream {
  /** The image: x0 ≤ x < x1. */
  x0: number;
  y0: number;
  x1: number;
  y1: number;
  /** Where the first tile begins, and the size of tiles. */
  tiles: { x: number; y: number; width: number; height: number; columns: number; rows: number };
  /** Bits of a sample, the same for all components. */
  bits: number;
  isSigned: boolean;
  components: number;
  /** Pixels for each sample of the second and third component, across and down. */
  chroma: readonly [across: number, down: number];
  /** How often every component is halved: the number of its smaller levels. */
  halvings: number;
  /** The segments of the main header that decide how tiles are decoded, without SIZ. */
  segments: Buffer[];
  /** What the segments TLM say of tile-parts, in their order; empty without such segments. */
  stated: { tile: number | undefined; bytes: number }[];
  /** Where the first tile-part is, and where the codestream ends. */
  firstPart: number;
  end: number;
}

/** Codes of markers, all behind a byte FF. */
export const markers = { part: 0x90, end: 0xd9 } as const;
const coding = 0x52;
const codingOfComponent = 0x53;
const lengthsOfParts = 0x55;
const packedHeaders = 0x60;
/** COD, COC, QCD, QCC, RGN and POC: how tiles are coded. */
const kept: readonly number[] = [coding, codingOfComponent, 0x5c, 0x5d, 0x5e, 0x5f];
/** Lengths of packets, places of components, comments, profiles: decoding needs none. */
const leftOut: readonly number[] = [lengthsOfParts, 0x57, 0x58, 0x63, 0x64, 0x56, 0x59];

/** The format has room for as many tiles. */
const maxTiles = 65_535;
const maxSegments = 2 ** 12;
const maxPrecincts = 2 ** 20;

const damaged = (how: string): InputError => new InputError('decode', `The JPEG 2000 is damaged: ${how}`);

/**
 * Reads the main header of the codestream in these bytes of a source. Rejects with InputError; also if components have
 * fewer samples, unless these may be `chroma`.
 */
export async function readCodestream(
  source: ByteSource,
  start: number,
  end: number,
  fewer: 'none' | 'chroma' = 'none',
): Promise<Codestream> {
  const what = 'the header of its codestream';
  const head = await source.bytes(start, 4, what);
  if (head.readUInt32BE(0) !== 0xff4fff51) throw damaged('its codestream does not begin with its size');
  const length = (await source.bytes(start + 4, 2, what)).readUInt16BE(0);
  const size = readSize(Buffer.from(await source.bytes(start + 4, length, what)), fewer);
  const segments: Buffer[] = [];
  const stated: Codestream['stated'] = [];
  let halvings: number | undefined;
  let at = start + 4 + length;
  for (let count = 0; ; count++) {
    const marker = (await source.bytes(at, 4, what)).readUInt16BE(0) - 0xff00;
    if (marker === markers.part) break;
    if (!(marker > 0) || count === maxSegments) throw damaged(`byte ${at} is not a segment of its header`);
    const bytes = 2 + (await source.bytes(at, 4, what)).readUInt16BE(2);
    if (marker === packedHeaders) throw refused('with packet headers in its main header (PPM)');
    if (kept.includes(marker)) {
      const segment = Buffer.from(await source.bytes(at, bytes, what));
      segments.push(segment);
      if (marker === coding) halvings = Math.min(halvings ?? 32, halvingsOf(segment, size));
      if (marker === codingOfComponent) {
        const skipped = size.components < 257 ? 6 : 7;
        halvings = Math.min(halvings ?? 32, segment[skipped] ?? 0);
      }
    } else if (marker === lengthsOfParts) {
      stated.push(...readLengths(await source.bytes(at, bytes, what)));
    } else if (!leftOut.includes(marker)) throw refused(`with the segment FF${marker.toString(16).toUpperCase()}`);
    at += bytes;
  }
  if (halvings === undefined) throw damaged('it has no segment COD, which says how it is coded');
  return { ...size, halvings, segments, stated, firstPart: at, end };
}

const refused = (what: string): InputError =>
  new InputError(
    'decode',
    `A JPEG 2000 ${what} is not supported: docs/inputs.md says which are, and opj_compress or gdal_translate make one`,
  );

type Size = Omit<Codestream, 'halvings' | 'segments' | 'stated' | 'firstPart' | 'end'>;

function readSize(segment: Buffer, fewer: 'none' | 'chroma'): Size {
  const components = segment.length < 41 ? 0 : segment.readUInt16BE(36);
  if (components === 0 || segment.length !== 38 + 3 * components) {
    throw damaged('the length of its size (SIZ) is wrong');
  }
  if (segment.readUInt16BE(2) & 0x4000) throw refused('of high throughput (Part 15)');
  const at = (i: number): number => segment.readUInt32BE(4 + 4 * i);
  const [x1, y1, x0, y0] = [at(0), at(1), at(2), at(3)];
  const tile = { x: at(6), y: at(7), width: at(4), height: at(5) };
  if (x0 >= x1 || y0 >= y1) throw new InputError('decode', `The image has no pixels: ${x1 - x0}x${y1 - y0}`);
  if (tile.x > x0 || tile.y > y0 || tile.x + tile.width <= x0 || tile.y + tile.height <= y0) {
    throw damaged(`its first tile, ${tile.width}x${tile.height} at (${tile.x}, ${tile.y}), has nothing of the image`);
  }
  const [columns, rows] = [Math.ceil((x1 - tile.x) / tile.width), Math.ceil((y1 - tile.y) / tile.height)];
  if (columns * rows > maxTiles) {
    throw damaged(`its tiles of ${tile.width}x${tile.height} are ${columns * rows}, and ${maxTiles} are allowed`);
  }
  const depth = segment[38]!;
  const chroma = fewer === 'chroma' && components === 3 ? ([segment[42]!, segment[43]!] as const) : ([1, 1] as const);
  const mayBeFewer = x0 === 0 && y0 === 0 && chroma.every((step) => step === 1 || step === 2);
  for (let i = 38; i < segment.length; i += 3) {
    const [across, down] = i > 38 && mayBeFewer ? chroma : [1, 1];
    if (segment[i + 1] !== across || segment[i + 2] !== down) throw refused('with components that have fewer samples');
    if (segment[i] !== depth) throw refused('with components of different depths');
  }
  const tiles = { ...tile, columns, rows };
  return { x0, y0, x1, y1, tiles, bits: (depth & 0x7f) + 1, isSigned: depth > 0x7f, components, chroma };
}

/** The halvings that a segment COD states. Throws InputError if its precincts are so small that they take gigabytes. */
function halvingsOf(segment: Buffer, { x0, y0, x1, y1, tiles, components }: Size): number {
  const halvings = segment[9];
  if (halvings === undefined || halvings > 32) throw damaged('its segment COD makes no sense');
  const hasPrecincts = (segment[4]! & 1) === 1;
  const [width, height] = [Math.min(tiles.width, x1 - x0), Math.min(tiles.height, y1 - y0)];
  let precincts = 0;
  for (let level = 0; level <= halvings && hasPrecincts; level++) {
    const sizes = segment[14 + halvings - level] ?? 0xff;
    const scale = 2 ** level;
    precincts += Math.ceil(width / scale / 2 ** (sizes & 15)) * Math.ceil(height / scale / 2 ** (sizes >> 4));
  }
  if (precincts * components > maxPrecincts) {
    throw refused(`with ${precincts * components} precincts in a tile`);
  }
  return halvings;
}

function readLengths(segment: Buffer): Codestream['stated'] {
  const form = segment[5] ?? 0;
  const tileBytes = (form >> 4) & 3;
  const lengthBytes = form & 0x40 ? 4 : 2;
  const stated: Codestream['stated'] = [];
  for (let at = 6; at + tileBytes + lengthBytes <= segment.length; at += tileBytes + lengthBytes) {
    const tile = tileBytes === 1 ? segment[at]! : tileBytes === 2 ? segment.readUInt16BE(at) : undefined;
    stated.push({ tile, bytes: segment.readUIntBE(at + tileBytes, lengthBytes) });
  }
  return stated;
}
