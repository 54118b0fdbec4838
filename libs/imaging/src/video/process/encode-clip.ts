import type { CodecContext, Dictionary, Ffmpeg, Frame, Packet, Rational, Stream } from './ffmpeg.ts';

/** A recording to be made for a benchmark. */
export interface ClipOrder {
  /** Where the MP4 is written. */
  path: string;
  codec: 'h264' | 'hevc';
  width: number;
  height: number;
  bitsASecond: number;
  /** Frames from one key frame to the next. */
  keyEvery: number;
}

const framesASecond = 25;
const encoders: Record<ClipOrder['codec'], string> = { h264: 'libx264', hevc: 'libx265' };
/** AV_PIX_FMT_YUV420P. */
const yuv420 = 0;
/** AV_CODEC_FLAG_GLOBAL_HEADER, which MP4 wants. */
const globalHeader = 1 << 22;

/** Encodes frames of planes in YUV 4:2:0 until there are none; throws Error with FFmpeg's reason. */
export function encodeClip(ffmpeg: Encoders, order: ClipOrder, nextFrame: () => Buffer | undefined): void {
  const { path, codec: name, width, height, bitsASecond, keyEvery } = order;
  const check = (code: number, what: string) => {
    if (code < 0) throw new Error(`The clip cannot be made (${what}): ${ffmpeg.FFmpegError.strerror(code)}`);
  };
  const timeBase = { num: 1, den: framesASecond };
  const codec = ffmpeg.Codec.findEncoderByName(encoders[name]);
  const format = new ffmpeg.FormatContext();
  check(format.allocOutputContext2(null, 'mp4', path), 'its format');
  check(format.openOutputSync(), 'its file');
  const encoder = new ffmpeg.CodecContext();
  encoder.allocContext3(codec);
  Object.assign(encoder, {
    width,
    height,
    pixelFormat: yuv420,
    timeBase,
    bitRate: BigInt(bitsASecond),
    gopSize: keyEvery,
  });
  encoder.flags |= globalHeader;
  const set = (option: string, value: string) => ffmpeg.Option.set(encoder, option, value, 1);
  set('preset', 'veryfast');
  if (name === 'hevc') set('x265-params', 'log-level=none');
  check(encoder.open2Sync(codec, null), 'its encoder');
  const stream = format.newStream(codec);
  stream.timeBase = timeBase;
  check(stream.codecpar.fromContext(encoder), 'its stream');
  check(format.writeHeaderSync(null), 'its header');
  const packet = new ffmpeg.Packet();
  packet.alloc();
  const drain = () => {
    while (encoder.receivePacketSync(packet) >= 0) {
      packet.streamIndex = 0;
      // Without it, the file's edit list would hide its last frame.
      packet.duration = 1n;
      packet.rescaleTs(timeBase, stream.timeBase);
      check(format.interleavedWriteFrameSync(packet), 'a packet');
    }
  };
  const frame = new ffmpeg.Frame();
  frame.alloc();
  let frames = 0;
  for (let planes = nextFrame(); planes; planes = nextFrame()) {
    Object.assign(frame, { width, height, format: yuv420 });
    check(frame.getBuffer(0), 'a frame');
    check(frame.fromBuffer(planes), 'a frame');
    frame.pts = BigInt(frames++);
    check(encoder.sendFrameSync(frame), 'a frame');
    frame.unref();
    drain();
  }
  encoder.sendFrameSync(null);
  drain();
  check(format.writeTrailerSync(), 'its end');
  format.closeOutputSync();
  frame.free();
  packet.free();
  encoder.freeContext();
}

/** The parts of FFmpeg that only this file calls. */
export interface Encoders extends Pick<Ffmpeg, 'Option' | 'FFmpegError'> {
  Codec: { findEncoderByName(name: string): EncoderName };
  CodecContext: new () => Encoder;
  FormatContext: new () => OutputFormat;
  Packet: new () => EncodedPacket;
  Frame: new () => EncodedFrame;
}
type EncoderName = Parameters<CodecContext['open2Sync']>[0];
interface Encoder extends CodecContext {
  flags: number;
  sendFrameSync(frame: EncodedFrame | null): number;
  receivePacketSync(packet: EncodedPacket): number;
}
interface EncodedPacket extends Omit<Packet, 'streamIndex'> {
  streamIndex: number;
  duration: bigint;
  rescaleTs(from: Rational, to: Rational): void;
}
interface EncodedFrame extends Omit<Frame, 'pts'> {
  pts: bigint;
  getBuffer(align: number): number;
  fromBuffer(planes: Buffer): number;
}
interface OutputStream extends Omit<Stream, 'timeBase' | 'codecpar'> {
  timeBase: Rational;
  codecpar: Stream['codecpar'] & { fromContext(encoder: Encoder): number };
}
interface OutputFormat {
  allocOutputContext2(format: null, name: string, path: string): number;
  openOutputSync(): number;
  newStream(codec: EncoderName): OutputStream;
  writeHeaderSync(options: Dictionary | null): number;
  interleavedWriteFrameSync(packet: EncodedPacket): number;
  writeTrailerSync(): number;
  closeOutputSync(): void;
}
