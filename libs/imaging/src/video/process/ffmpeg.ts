import { createRequire } from 'node:module';
import { MissingDecoderError } from '../../missing-decoder-error.ts';
import { ffmpegPackage, findFfmpeg } from './find-ffmpeg.ts';

/*
 * FFmpeg from the package @seydx/node-av-linux-ARCH, which is one file with everything linked into it. Its classes are
 * called directly: node-av, the package around it, brings 70 others. A process that has loaded it must end by
 * process.exit, with all objects freed; otherwise it may crash as it ends (measured). For this reason, and because a
 * damaged file may harm a decoder, only processes that do nothing else load it: see video-process.ts.
 */

/** In FFmpeg's units. `num / den` seconds. */
export interface Rational {
  num: number;
  den: number;
}

export interface Packet {
  readonly size: number;
  readonly streamIndex: number;
  pts: bigint;
  readonly dts: bigint;
  readonly pos: bigint;
  readonly flags: number;
  /** Valid until the packet is given back. */
  readonly data: Buffer | null;
  alloc(): void;
  unref(): void;
  free(): void;
  getSideData(type: number): Buffer | null;
  addSideData(type: number, data: Buffer): number;
}

export interface Frame {
  readonly width: number;
  readonly height: number;
  readonly format: number;
  readonly colorRange: number;
  /** The number of its matrix by ISO/IEC 23091-2. */
  readonly colorSpace: number;
  readonly linesize: number[];
  readonly data: Buffer[] | null;
  readonly pts: bigint;
  readonly flags: number;
  readonly decodeErrorFlags: number;
  alloc(): void;
  unref(): void;
  free(): void;
  isHwFrame(): boolean;
  hwframeTransferDataSync(to: Frame): number;
}

interface CodecParameters {
  readonly codecType: number;
  readonly codecId: number;
  readonly codecTag: number;
  readonly width: number;
  readonly height: number;
  readonly format: number;
  readonly colorRange: number;
  /** Frames that a decoder holds back, as far as the stream or its first frames tell. */
  readonly videoDelay: number;
  readonly extradata: Buffer | null;
}

export interface Stream {
  readonly index: number;
  readonly codecpar: CodecParameters;
  readonly timeBase: Rational;
  readonly nbFrames: bigint;
  readonly disposition: number;
}

/** Input for FFmpeg from bytes that it does not open itself. */
export interface IoContext {
  /**
   * `read` gives bytes or an error code. `seek` gives the new position or an error code, or the size of all bytes if
   * that is its origin. Neither may throw.
   */
  allocContextWithCallbacks(
    bufferBytes: number,
    writes: 0,
    read: (length: number) => Buffer | number,
    write: undefined,
    seek: (offset: bigint, origin: number) => bigint,
  ): void;
  freeContext(): void;
}

export interface FormatContext {
  pb: IoContext | null;
  flags: number;
  readonly streams: Stream[] | null;
  readonly iformat: { readonly name: string | null } | null;
  readonly metadata: { get(key: string, flags: number): string | null } | null;
  allocContext(): void;
  openInputSync(url: string, format: null, options: Dictionary): number;
  findStreamInfoSync(options: null): number;
  readFrameSync(packet: Packet): number;
  seekFrameSync(stream: number, timestamp: bigint, flags: number): number;
  closeInputSync(): void;
}

export interface Codec {
  readonly name: string | null;
  getHwConfig(index: number): { pixFmt: number; methods: number; deviceType: number } | null;
}

export interface CodecContext {
  pktTimebase: Rational;
  hwDeviceCtx: HardwareDeviceContext | null;
  allocContext3(codec: Codec): void;
  parametersToContext(parameters: CodecParameters): number;
  open2Sync(codec: Codec, options: null): number;
  setHardwarePixelFormat(format: number): void;
  sendPacketSync(packet: Packet | null): number;
  receiveFrameSync(frame: Frame): number;
  flushBuffers(): void;
  freeContext(): void;
}

export interface Dictionary {
  alloc(): void;
  set(key: string, value: string, flags: number): number;
  free(): void;
}

export interface HardwareDeviceContext {
  create(type: number, device: null, options: null): number;
  free(): void;
}

export interface Ffmpeg {
  Packet: new () => Packet;
  Frame: new () => Frame;
  FormatContext: new () => FormatContext;
  IOContext: new () => IoContext;
  CodecContext: new () => CodecContext;
  Dictionary: new () => Dictionary;
  HardwareDeviceContext: { new (): HardwareDeviceContext; findTypeByName(name: string): number };
  Codec: { findDecoder(id: number): Codec | null };
  /** Returns a negative number if it fails. */
  Option: { set(of: CodecContext, name: string, value: string, searchFlags: number): number };
  FFmpegError: { strerror(code: number): string };
  Log: { setLevel(level: number): void };
  avGetPixFmtName(format: number): string | null;
  avGetCodecName(id: number): string | null;
  getFFmpegInfo(): { version: string };
}

// Names and values of FFmpeg's headers.
export const averror = { eof: -541478725, again: -11, io: -5, invalid: -22 } as const;
export const newExtradata = 1;
export const packetFlags = { key: 1, corrupt: 2, discard: 4 } as const;
export const formatFlags = { noParse: 0x20 } as const;
export const frameFlags = { corrupt: 1 } as const;
export const seekFlags = { backward: 1, byte: 2 } as const;
export const seekOrigins = { start: 0, current: 1, end: 2, size: 0x10000 } as const;
export const noTimestamp = -(2n ** 63n);
export const videoType = 0;
export const attachedPicture = 0x400;
export const fullRange = 2;
export const hwDeviceMethod = 1;
export const logFatal = 8;

const require = createRequire(import.meta.url);

/** Throws MissingDecoderError if FFmpeg is missing, has another version, or does not load. */
export function loadFfmpeg(): Ffmpeg {
  const path = findFfmpeg();
  try {
    return require(path);
  } catch (error) {
    const why = (error as Error).message.split('\n', 1)[0];
    throw new MissingDecoderError(
      'video',
      `Videos cannot be read here: the package ${ffmpegPackage.name} does not load: ${why}`,
    );
  }
}
