import { brotliDecompressSync, gunzipSync, type ZlibOptions, zstdDecompressSync } from 'node:zlib';
import type { Compressors } from 'hyparquet';

type Unpack = (bytes: Uint8Array, options: ZlibOptions) => Buffer;
const by =
  (unpack: Unpack) =>
  (bytes: Uint8Array, length: number): Uint8Array =>
    unpack(bytes, { maxOutputLength: Math.max(1, length) });

/** Codecs in addition to hyparquet's own. Node has Zstandard from 22.15 on. */
export const compressors: Compressors = {
  GZIP: by(gunzipSync),
  BROTLI: by(brotliDecompressSync),
  ...(zstdDecompressSync && { ZSTD: by(zstdDecompressSync as Unpack) }),
};
