import { promisify } from 'node:util';
import { gunzip as callGunzip, inflate as callInflate, zstdDecompress as callUnzstd } from 'node:zlib';
import { crc32c } from '@halogrid/sources';
import { decodeBlosc } from './blosc.ts';
import { decodeLz4 } from './lz4.ts';

/** Decodes the bytes of a chunk, which become `most` bytes at most; throws or rejects for bytes that are damaged. */
type Decode = (bytes: Uint8Array, most: number) => Uint8Array | Promise<Uint8Array>;

/** A codec that decodes no more than a chunk may have, so that a kilobyte cannot become gigabytes. */
export interface BoundedCodec {
  fromConfig(
    configuration: unknown,
    chunk: { dataType: string; shape: readonly number[] },
  ): { kind: 'bytes_to_bytes'; decode(bytes: Uint8Array): Promise<Uint8Array>; encode(): never };
}

/** The checksum that another codec may have left behind the samples. */
const checksumBytes = 4;
const lengthBytes = 4;

const gunzip = promisify(callGunzip);
const inflate = promisify(callInflate);
const unzstd = promisify(callUnzstd);

/** The codecs between the samples of a chunk and the bytes of its file, by their names in metadata. */
export const boundedCodecs: Readonly<Record<string, BoundedCodec>> = {
  gzip: bounded((bytes, most) => gunzip(bytes, { maxOutputLength: most })),
  zlib: bounded((bytes, most) => inflate(bytes, { maxOutputLength: most })),
  zstd: bounded((bytes, most) => unzstd(bytes, { maxOutputLength: most })),
  blosc: bounded(decodeBlosc),
  lz4: bounded(decodeLz4Chunk),
  crc32c: bounded(checked),
};

function bounded(decode: Decode): BoundedCodec {
  return {
    fromConfig: (_, { dataType, shape }) => {
      const samples = shape.reduce((all, size) => all * size, 1);
      const most = samples * (dataType === 'uint16' ? 2 : 1) + checksumBytes;
      return {
        kind: 'bytes_to_bytes',
        decode: async (bytes) => decode(bytes, most),
        encode: () => {
          throw new Error('Zarr is only read');
        },
      };
    },
  };
}

/** The length of the content comes before a block of LZ4. */
function decodeLz4Chunk(bytes: Uint8Array, most: number): Uint8Array {
  if (bytes.length < lengthBytes) throw new Error('it is shorter than the header of LZ4');
  const length = viewOf(bytes).getUint32(0, true);
  if (length > most) throw new Error(`its header promises ${length} bytes, more than the chunk has`);
  const out = new Uint8Array(length);
  decodeLz4(bytes.subarray(lengthBytes), out);
  return out;
}

function checked(bytes: Uint8Array): Uint8Array {
  const content = bytes.subarray(0, Math.max(0, bytes.length - checksumBytes));
  const isSame = bytes.length >= checksumBytes && viewOf(bytes).getUint32(content.length, true) === crc32c(content);
  if (!isSame) throw new Error('its checksum is another one');
  return content;
}

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength);
