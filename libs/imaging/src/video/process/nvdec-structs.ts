/*
 * The structures of NVIDIA's nvcuvid.h and cuviddec.h (Video Codec SDK 13) that are filled or read here, as bytes on 64-bit Linux. What is not
 * named stays 0.
 */

export type NvdecCodec = 'h264' | 'hevc';
/** cudaVideoCodec. */
const codecs: Record<NvdecCodec, number> = { h264: 4, hevc: 8 };
/** cudaVideoChromaFormat_420. */
export const chroma420 = 1;
/** cuvidDecodeStatus. */
export const decodeStatus = { inProgress: 1, success: 2 } as const;

const set64 = (bytes: Buffer, at: number, value: number | bigint): number => bytes.writeBigUInt64LE(BigInt(value), at);

/** What an address is written to that a call gives. */
export const outBytes = 8;
export const readOut = (bytes: Buffer): bigint => bytes.readBigUInt64LE(0);

/** CUVIDDECODECAPS, for 8 bits in 4:2:0. */
export function capsOf(codec: NvdecCodec): Buffer {
  const bytes = Buffer.alloc(88);
  bytes.writeInt32LE(codecs[codec], 0);
  bytes.writeInt32LE(chroma420, 4);
  return bytes;
}

export interface NvdecCaps {
  isSupported: boolean;
  engines: number;
  minWidth: number;
  minHeight: number;
  maxWidth: number;
  maxHeight: number;
  /** Blocks of 16 x 16 pixels of a frame. */
  maxBlocks: number;
}

export const readCaps = (bytes: Buffer): NvdecCaps => ({
  isSupported: bytes[24] === 1,
  engines: bytes[25]!,
  maxWidth: bytes.readUInt32LE(28),
  maxHeight: bytes.readUInt32LE(32),
  maxBlocks: bytes.readUInt32LE(36),
  minWidth: bytes.readUInt16LE(40),
  minHeight: bytes.readUInt16LE(42),
});

/** CUVIDPARSERPARAMS. Surfaces are named by the answer of `sequence`; a picture of which not all can be parsed is not decoded. */
export function parserOf(
  codec: NvdecCodec,
  displayDelay: number,
  called: { sequence: bigint; decode: bigint; display: bigint },
): Buffer {
  const bytes = Buffer.alloc(136);
  bytes.writeInt32LE(codecs[codec], 0);
  bytes.writeUInt32LE(1, 4);
  bytes.writeUInt32LE(displayDelay, 16);
  set64(bytes, 48, called.sequence);
  set64(bytes, 56, called.decode);
  set64(bytes, 64, called.display);
  return bytes;
}

const packetFlags = { endOfStream: 1, endOfPicture: 8 } as const;

/** CUVIDSOURCEDATAPACKET with one picture; without an address, the end of the stream. */
export function packetOf(address?: bigint, length = 0): Buffer {
  const bytes = Buffer.alloc(32);
  set64(bytes, 0, address === undefined ? packetFlags.endOfStream : packetFlags.endOfPicture);
  set64(bytes, 8, length);
  set64(bytes, 16, address ?? 0);
  return bytes;
}

export const videoFormatBytes = 64;

/** What CUVIDEOFORMAT says of a sequence; the visible part is from `left` and `top` on. */
export interface NvdecSequence {
  codedWidth: number;
  codedHeight: number;
  left: number;
  top: number;
  width: number;
  height: number;
  chroma: number;
  bits: number;
  isFullRange: boolean;
  /** That decoding needs. */
  surfaces: number;
}

export function readVideoFormat(bytes: Buffer): NvdecSequence {
  const [left, top, right, bottom] = [24, 28, 32, 36].map((at) => bytes.readInt32LE(at)) as [
    number,
    number,
    number,
    number,
  ];
  return {
    codedWidth: bytes.readUInt32LE(16),
    codedHeight: bytes.readUInt32LE(20),
    ...{ left, top, width: right - left, height: bottom - top },
    chroma: bytes.readInt32LE(40),
    bits: 8 + bytes[13]!,
    isFullRange: (bytes[56]! & 8) !== 0,
    surfaces: bytes[15]!,
  };
}

/** cudaVideoCreate_PreferCUVID: the engines themselves. */
const onEngines = 4;

/** CUVIDDECODECREATEINFO: NV12 of the coded size, of which two may be mapped. */
export function decoderOf(
  codec: NvdecCodec,
  { codedWidth, codedHeight, chroma }: NvdecSequence,
  surfaces: number,
): Buffer {
  const bytes = Buffer.alloc(176);
  set64(bytes, 0, codedWidth);
  set64(bytes, 8, codedHeight);
  set64(bytes, 16, surfaces);
  bytes.writeInt32LE(codecs[codec], 24);
  bytes.writeInt32LE(chroma, 28);
  set64(bytes, 32, onEngines);
  set64(bytes, 56, codedWidth);
  set64(bytes, 64, codedHeight);
  bytes.writeInt16LE(codedWidth, 84);
  bytes.writeInt16LE(codedHeight, 86);
  set64(bytes, 96, codedWidth);
  set64(bytes, 104, codedHeight);
  set64(bytes, 112, 2);
  return bytes;
}

/** Bytes of CUVIDPICPARAMS that `readPicture` looks at. */
export const pictureBytes = 288;

/** A picture as the driver's parser found it. */
export interface NvdecPicture {
  /** To which it is decoded. */
  surface: number;
  isField: boolean;
  slices: number;
  /** Of H.264: whether others may be decoded from it, its number among those, and where that begins again. */
  isReference: boolean;
  frameNumber: number;
  frameNumbers: number;
}

export const readPicture = (bytes: Buffer): NvdecPicture => ({
  surface: bytes.readInt32LE(8),
  isField: bytes.readInt32LE(12) !== 0,
  slices: bytes.readUInt32LE(40),
  isReference: bytes.readInt32LE(272) !== 0,
  frameNumber: bytes.readInt32LE(276),
  frameNumbers: 2 ** (bytes.readInt32LE(184) + 4),
});

export const displayInfoBytes = 24;
/** The surface of CUVIDPARSERDISPINFO. */
export const readSurface = (bytes: Buffer): number => bytes.readInt32LE(0);

/** CUVIDPROCPARAMS, for a frame as it was decoded. */
export function mappingOf(stream: bigint): Buffer {
  const bytes = Buffer.alloc(264);
  bytes.writeInt32LE(1, 0);
  set64(bytes, 56, stream);
  return bytes;
}

/** CUVIDGETDECODESTATUS. */
export const statusBytes = 192;

const memoryTypes = { host: 1, device: 2 } as const;

/** CUDA_MEMCPY2D, from the device to this process. */
export function rowsToHost(
  from: { address: bigint; stride: number },
  to: { address: bigint; stride: number },
  { width, height }: { width: number; height: number },
): Buffer {
  const bytes = Buffer.alloc(128);
  bytes.writeInt32LE(memoryTypes.device, 16);
  set64(bytes, 32, from.address);
  set64(bytes, 48, from.stride);
  bytes.writeInt32LE(memoryTypes.host, 72);
  set64(bytes, 80, to.address);
  set64(bytes, 104, to.stride);
  set64(bytes, 112, width);
  set64(bytes, 120, height);
  return bytes;
}
