import { promisify } from 'node:util';
import { gunzip as callGunzip, inflate as callInflate, zstdDecompress as callUnzstd } from 'node:zlib';
import { crc32c } from '@halogrid/sources';

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

const gunzip = promisify(callGunzip);
const inflate = promisify(callInflate);
const unzstd = promisify(callUnzstd);

/** The codecs between the samples of a chunk and the bytes of its file, by their names in metadata. */
export const boundedCodecs: Readonly<Record<string, BoundedCodec>> = {
  gzip: bounded((bytes, most) => gunzip(bytes, { maxOutputLength: most })),
  zlib: bounded((bytes, most) => inflate(bytes, { maxOutputLength: most })),
  zstd: bounded((bytes, most) => unzstd(bytes, { maxOutputLength: most })),
  blosc: bounded(decodeBlosc),
  lz4: bounded(decodeLz4),
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

/** The header of Blosc 1 has the lengths of the content and of all bytes. */
async function decodeBlosc(bytes: Uint8Array, most: number): Promise<Uint8Array> {
  if (bytes.length < 16) throw new Error('it is shorter than the header of Blosc');
  const view = viewOf(bytes);
  checkStated(view.getUint32(4, true), most);
  const length = view.getUint32(12, true);
  if (length !== bytes.length) throw new Error(`it has ${bytes.length} bytes, and its header says ${length}`);
  const { default: Blosc } = await import('numcodecs/blosc');
  return await new Blosc().decode(bytes);
}

/** The length of the content comes before a block of LZ4. */
async function decodeLz4(bytes: Uint8Array, most: number): Promise<Uint8Array> {
  if (bytes.length < 4) throw new Error('it is shorter than the header of LZ4');
  checkStated(viewOf(bytes).getUint32(0, true), most);
  const { default: Lz4 } = await import('numcodecs/lz4');
  return await new Lz4().decode(bytes);
}

function checked(bytes: Uint8Array): Uint8Array {
  const content = bytes.subarray(0, Math.max(0, bytes.length - checksumBytes));
  const isSame = bytes.length >= checksumBytes && viewOf(bytes).getUint32(content.length, true) === crc32c(content);
  if (!isSame) throw new Error('its checksum is another one');
  return content;
}

function checkStated(stated: number, most: number): void {
  if (stated > most) throw new Error(`its header promises ${stated} bytes, more than the chunk has`);
}

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength);
