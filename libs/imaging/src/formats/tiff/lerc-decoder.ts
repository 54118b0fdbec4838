import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/** The functions of lerc-wasm.wasm that are called, by the names that LercDecode.es.js of the same version knows. */
interface LercExports {
  /** Its memory. */
  d: WebAssembly.Memory;
  /** Prepares it. */
  e(): void;
  /** lerc_decode_4D: 0 if it succeeds. */
  h(...values: number[]): number;
  /** malloc; 0 if there is no memory. */
  i(bytes: number): number;
  /** free */
  j(place: number): void;
}

/** What the blobs have: rows without gaps, blob after blob, and for each a byte a pixel that is 0 without a value. */
export interface LercSamples {
  data: Uint8Array;
  masks: Uint8Array;
}

/** An instance with more memory than this is not kept, because it never gives memory back. */
const keptBytes = 2 ** 26;

let compiled: Promise<WebAssembly.Module> | undefined;
let kept: LercExports | undefined;

/**
 * Decodes blobs whose headers have that size. Undefined if they are damaged. The package's own functions are not used:
 * they believe the size of a header, and would go on with an instance in which damage broke something.
 */
export async function decodeLerc(
  blobs: Uint8Array,
  { width, height, bands, depth, type }: { width: number; height: number; bands: number; depth: number; type: number },
  sampleBytes: number,
): Promise<LercSamples | undefined> {
  compiled ??= readFile(fileURLToPath(import.meta.resolve('lerc/lerc-wasm.wasm'))).then(
    (bytes) => new WebAssembly.Module(bytes),
  );
  const lerc = kept ?? start(await compiled);
  kept = undefined;
  const pixels = width * height;
  const dataBytes = pixels * bands * depth * sampleBytes;
  const lengths = [blobs.length, dataBytes, pixels * bands, bands, 8 * bands];
  try {
    const places = lengths.map((length) => lerc.i(length));
    if (places.includes(0)) return undefined;
    const [blobsAt, dataAt, masksAt, ...noDataAt] = places as [number, number, number, number, number];
    const memory = new Uint8Array(lerc.d.buffer);
    memory.set(blobs, blobsAt);
    memory.fill(0, dataAt, dataAt + dataBytes);
    const failed = lerc.h(
      blobsAt,
      blobs.length,
      bands,
      masksAt,
      depth,
      width,
      height,
      bands,
      type,
      dataAt,
      ...noDataAt,
    );
    // The memory may have grown, and then has another buffer.
    const part = (at: number, length: number): Uint8Array => new Uint8Array(lerc.d.buffer).slice(at, at + length);
    const samples = failed ? undefined : { data: part(dataAt, dataBytes), masks: part(masksAt, pixels * bands) };
    for (const place of places) lerc.j(place);
    if (lerc.d.buffer.byteLength <= keptBytes) kept = lerc;
    return samples;
  } catch {
    // A trap or an exception: the instance is not used again.
    return undefined;
  }
}

function start(module: WebAssembly.Module): LercExports {
  const lerc = { exports: undefined as LercExports | undefined };
  const refuse = (): never => {
    throw new Error('LERC gave up');
  };
  const grow = (bytes: number): number => {
    const { d: memory } = lerc.exports!;
    try {
      memory.grow(Math.ceil(Math.max(0, (bytes >>> 0) - memory.buffer.byteLength) / 2 ** 16));
      return 1;
    } catch {
      return 0;
    }
  };
  const instance = new WebAssembly.Instance(module, { a: { a: refuse, b: refuse, c: grow } });
  lerc.exports = instance.exports as unknown as LercExports;
  lerc.exports.e();
  return lerc.exports;
}
