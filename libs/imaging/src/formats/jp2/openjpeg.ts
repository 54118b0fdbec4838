import openOpenjpeg, { type Openjpeg } from '@cornerstonejs/codec-openjpeg/decodewasmjs';
import type { Size } from '@halogrid/geometry';

/** A file to decode, and what must come out. */
export interface StreamOrder {
  file: Uint8Array;
  /** How often its sides are halved. */
  level: number;
  components: number;
  bits: number;
  /** The size of the image before its sides are halved, and after. */
  full: Size;
  halved: Size;
}

/** The samples, of 1 byte, or of 2 for more than 8 bits, rows without gaps; or why there are none. */
export type DecodedStream = { bytes: Uint8Array<ArrayBuffer> } | { whyNot: string };

/** A decoder whose memory has grown beyond this is not kept: memory of WebAssembly does not shrink. */
const mostKept = 2 ** 28;

/** From here on, a file that needs more memory than there is needs more than WebAssembly has, on any machine. */
const nearlyAll = 2 ** 30;

let kept: Openjpeg | undefined;
let said: string[] = [];

/**
 * Decodes a file by OpenJPEG, which tells of damage by what it prints. A decoder that has failed is not used again, and
 * what fails in a used one is decoded again in a new one, so that outcomes do not depend on what was decoded before.
 */
export async function decodeStream(order: StreamOrder): Promise<DecodedStream> {
  const wasUsed = kept !== undefined;
  const decoded = await decodeOnce(order);
  return 'whyNot' in decoded && wasUsed ? await decodeOnce(order) : decoded;
}

async function decodeOnce(order: StreamOrder): Promise<DecodedStream> {
  const take = (line: string): void => {
    if (/^\[(ERROR|WARNING)\]/.test(line) && said.length < 8) said.push(line);
  };
  const openjpeg = kept ?? (await openOpenjpeg({ print: take, printErr: take }));
  kept = undefined;
  said = [];
  const decoded = decodeBy(openjpeg, order);
  const heapBytes = openjpeg.HEAPU8.length;
  if ('bytes' in decoded && heapBytes <= mostKept) kept = openjpeg;
  if ('whyNot' in decoded && /memory|alloc/i.test(decoded.whyNot) && heapBytes < nearlyAll) {
    throw new Error(`OpenJPEG lacks memory: ${decoded.whyNot}`);
  }
  return decoded;
}

function decodeBy(openjpeg: Openjpeg, order: StreamOrder): DecodedStream {
  const { file, level, components, bits, full, halved } = order;
  try {
    const decoder = new openjpeg.J2KDecoder();
    decoder.getEncodedBuffer(file.length).set(file);
    decoder.decodeSubResolution(level, 0);
    if (said.length > 0) return { whyNot: sayFirst() };
    const { componentCount, bitsPerSample } = decoder.getFrameInfo();
    const decoded = decoder.getDecodedBuffer();
    decoder.delete();
    const pixelBytes = components * (bits > 8 ? 2 : 1);
    // The binding rounds the size of the image up, which may be one more than what lies between its rounded edges.
    const stride = Math.ceil(full.width / 2 ** level) * pixelBytes;
    const rows = Math.ceil(full.height / 2 ** level);
    if (componentCount !== components || bitsPerSample !== bits || decoded.length !== rows * stride) {
      return { whyNot: `it has ${componentCount} components of ${bitsPerSample} bits in ${decoded.length} bytes` };
    }
    return { bytes: withoutGaps(decoded, stride, halved.width * pixelBytes, halved.height) };
  } catch {
    // An error of C++ is a number.
    return { whyNot: sayFirst() };
  }
}

/** The first `rowBytes` of each row, moved together. */
function withoutGaps(
  { buffer }: Uint8ClampedArray<ArrayBuffer>,
  stride: number,
  rowBytes: number,
  rows: number,
): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(buffer);
  if (stride > rowBytes) {
    for (let row = 1; row < rows; row++) bytes.copyWithin(row * rowBytes, row * stride, row * stride + rowBytes);
  }
  return bytes.subarray(0, rows * rowBytes);
}

/** What OpenJPEG said first, as a clause. */
function sayFirst(): string {
  const text = (said[0] ?? 'it gave up').replace(/^\[\w+\]\s*/, '').trim();
  return `OpenJPEG says "${text.replace(/[\s.]+$/, '').slice(0, 120)}"`;
}
