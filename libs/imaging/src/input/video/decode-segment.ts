import { InputError } from '../input-error.ts';
import {
  averror,
  type CodecContext,
  type Ffmpeg,
  type Frame,
  frameFlags,
  fullRange,
  type HardwareDeviceContext,
  hwDeviceMethod,
  packetFlags,
} from './ffmpeg.ts';
import { PacketReader } from './open-video.ts';
import { untrusted, type VideoFrame, type VideoPacket } from './video-frames.ts';
import { copyLuma, isFullRange, whyNoGray } from './video-gray.ts';

/** Part of a video to decode. */
export interface SegmentRequest {
  /** The key frame with which decoding begins. */
  start: VideoPacket;
  /**
   * Packets before this one are decoded as well as that goes, and what is wrong with them is passed over: it is what comes
   * of beginning in the middle.
   */
  strictFrom: number;
  /** One more than the number of the last packet that is needed. */
  end: number;
  /** The frames that are wanted of what is decoded. */
  wanted: Pick<VideoFrame, 'packet' | 'order'>[];
  /** A method of FFmpeg's, such as "cuda"; empty: none. */
  hwaccel: string;
}

/** What becomes of the frames. Positions are those in `wanted`. */
export interface SegmentSink {
  /** Luma without gaps; the bytes are good during the call. */
  frame(position: number, size: { width: number; height: number }, luma: Uint8Array): void;
  /** The frame counts nothing, also where it was there before. */
  bad(position: number, error: string): void;
  /** For the log. */
  note(line: string): void;
}

type Sent = VideoPacket & { /** First packet of its group. */ group: number; isShown: boolean; damage?: string };

/**
 * Decodes part of a video. A decoder runs in one thread, because which frames it gives up on would else depend on the number
 * of cores; several segments are decoded at once. Returns
 * the encoded bytes that were decoded. Throws InputError.
 */
export function decodeSegment(ffmpeg: Ffmpeg, path: string, request: SegmentRequest, sink: SegmentSink): number {
  const { start, strictFrom, end, wanted } = request;
  const reader = new PacketReader(ffmpeg, path);
  const hardware = request.hwaccel ? openHardware(ffmpeg, reader, request.hwaccel, sink) : undefined;
  const decoder = openDecoder(ffmpeg, reader, hardware);
  const frame = new ffmpeg.Frame();
  frame.alloc();
  const inMemory = new ffmpeg.Frame();
  inMemory.alloc();
  try {
    if (!reader.readTo(start)) throw new InputError('read', 'The video has changed since the job was planned');
    const positions = new Map(wanted.map(({ packet, order }, i) => [keyOf(packet, order), i]));
    const sent: Sent[] = [];
    const shownOfGroup = new Map<number, number>();
    let luma = new Uint8Array(0);

    const show = (): void => {
      const packet = sent[Number(frame.pts) - start.packet];
      if (!packet) return;
      packet.isShown = true;
      if (frame.flags & frameFlags.corrupt || frame.decodeErrorFlags) packet.damage ??= 'parts of it are missing';
      const order = shownOfGroup.get(packet.group) ?? 0;
      shownOfGroup.set(packet.group, order + 1);
      const position = positions.get(keyOf(packet.packet)) ?? positions.get(keyOf(packet.group, order));
      if (position === undefined || packet.damage) return;
      const picture = frame.isHwFrame() && frame.hwframeTransferDataSync(inMemory) >= 0 ? inMemory : frame;
      const why = whyNoGray(ffmpeg.avGetPixFmtName(picture.format) ?? '');
      if (why) {
        sink.bad(position, why);
        positions.delete(keyOf(wanted[position]!.packet, wanted[position]!.order));
        return;
      }
      luma = lumaOf(ffmpeg, picture, frame.colorRange === fullRange, luma);
      sink.frame(position, picture, luma.subarray(0, picture.width * picture.height));
      inMemory.unref();
    };
    const drain = (): number => {
      for (;;) {
        const code = decoder.receiveFrameSync(frame);
        if (code < 0) return code;
        show();
        frame.unref();
      }
    };
    const send = (isLast: boolean): void => {
      const code = decoder.sendPacketSync(isLast ? null : reader.current);
      const after = drain();
      const failed = [code, after].find((c) => c < 0 && c !== averror.again && c !== averror.eof);
      if (failed !== undefined && sent.length > 0) sent.at(-1)!.damage ??= ffmpeg.FFmpegError.strerror(failed);
    };

    for (let packet: VideoPacket | undefined = start; packet && packet.packet < end; packet = reader.read()) {
      const group: number = packet.isKey || sent.length === 0 ? packet.packet : sent.at(-1)!.group;
      const damage = reader.current.flags & packetFlags.corrupt ? 'the container marks it as damaged' : undefined;
      if (packet.packet === Math.max(strictFrom, start.packet)) ffmpeg.Option.set(decoder, 'err_detect', strictly, 0);
      sent.push({ ...packet, group, isShown: false, damage });
      // Decoders pass it on from packet to frame, and have no other use for it.
      reader.current.pts = BigInt(packet.packet);
      send(false);
    }
    send(true);
    reportBad(request, sent, sink);
    return sent.reduce((bytes, { size }) => bytes + size, 0);
  } finally {
    frame.free();
    inMemory.free();
    decoder.freeContext();
    hardware?.context.free();
    reader.close();
  }
}

/** A frame with any error is given up, also where only its checksum is wrong. */
const strictly = 'crccheck+explode';

const keyOf = (packet: number, order?: number): string => (order === undefined ? `${packet}` : `${packet}+${order}`);

/** Says of every wanted frame that did not come, or is not to be trusted, why. */
function reportBad({ wanted, strictFrom }: SegmentRequest, sent: readonly Sent[], sink: SegmentSink): void {
  const first = sent[0]?.packet ?? 0;
  const isDamaged = (packet: number): boolean => {
    if (packet < strictFrom) return false;
    const { isShown, isHidden, damage } = sent[packet - first]!;
    return damage !== undefined || !(isShown || isHidden);
  };
  const spoiled = untrusted(sent, isDamaged);
  for (const [position, { packet, order }] of wanted.entries()) {
    const own = sent[packet - first];
    if (!own) sink.bad(position, 'The video ends before this frame');
    else if (!spoiled.has(packet)) continue;
    else if (order !== undefined)
      sink.bad(position, 'A frame between the same two key frames is damaged, and none of them tells its time');
    else if (own.damage) sink.bad(position, `The frame is damaged: ${own.damage}`);
    else if (!own.isShown) sink.bad(position, 'The frame is damaged: the decoder gives no picture for it');
    else sink.bad(position, 'The frame may be decoded from one before it that is damaged');
  }
}

function lumaOf(
  ffmpeg: Ffmpeg,
  frame: Frame,
  statesFull: boolean,
  reused: Uint8Array<ArrayBuffer>,
): Uint8Array<ArrayBuffer> {
  const { width, height } = frame;
  const luma = reused.length >= width * height ? reused : new Uint8Array(width * height);
  const isFull = isFullRange(ffmpeg.avGetPixFmtName(frame.format) ?? '', statesFull);
  copyLuma(frame.data![0]!, frame.linesize[0]!, frame, isFull, luma);
  return luma;
}

function openDecoder(
  ffmpeg: Ffmpeg,
  { codec, stream }: PacketReader,
  hardware: { context: HardwareDeviceContext; pixels: number } | undefined,
): CodecContext {
  const decoder = new ffmpeg.CodecContext();
  decoder.allocContext3(codec);
  decoder.parametersToContext(stream.codecpar);
  decoder.pktTimebase = stream.timeBase;
  if (hardware) {
    decoder.hwDeviceCtx = hardware.context;
    decoder.setHardwarePixelFormat(hardware.pixels);
  }
  // A dictionary of options would be freed twice by the package (measured).
  const set = (name: string, value: string) => ffmpeg.Option.set(decoder, name, value, 0);
  set('threads', '1');
  set('flags', '+bitexact');
  // Holds frames back as long as the standard allows: a guess at less, where the stream does not say, may lose some.
  if (codec.name === 'h264') set('strict', 'strict');
  const code = decoder.open2Sync(codec, null);
  if (code >= 0) return decoder;
  decoder.freeContext();
  throw new InputError('decode', `The decoder does not take the video: ${ffmpeg.FFmpegError.strerror(code)}`);
}

/** Undefined, with a line for the log, where the method is not there. */
function openHardware(
  ffmpeg: Ffmpeg,
  { codec }: PacketReader,
  method: string,
  sink: SegmentSink,
): { context: HardwareDeviceContext; pixels: number } | undefined {
  const type = ffmpeg.HardwareDeviceContext.findTypeByName(method);
  for (let i = 0; ; i++) {
    const config = codec.getHwConfig(i);
    if (!config) break;
    if (config.deviceType !== type || !(config.methods & hwDeviceMethod)) continue;
    const context = new ffmpeg.HardwareDeviceContext();
    const code = context.create(type, null, null);
    if (code >= 0) return { context, pixels: config.pixFmt };
    sink.note(`--hwaccel ${method} is not available here (${ffmpeg.FFmpegError.strerror(code)}): decoding without it`);
    return undefined;
  }
  sink.note(`--hwaccel ${method} does not decode ${codec.name}: decoding without it`);
  return undefined;
}
