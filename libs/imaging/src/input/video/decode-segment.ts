import { InputError } from '../input-error.ts';
import { pixelBytes } from '../pixel-type.ts';
import {
  averror,
  type CodecContext,
  type Ffmpeg,
  frameFlags,
  fullRange,
  type HardwareDeviceContext,
  hwDeviceMethod,
  packetFlags,
} from './ffmpeg.ts';
import { PacketReader } from './open-video.ts';
import type { VideoBytes } from './video-bytes.ts';
import { beginOf, framesOf, untrusted, type VideoFrame, type VideoPacket } from './video-frames.ts';
import { copyLuma, lumaFormat, whyNoGray } from './video-gray.ts';

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
  /** Luma without gaps, a byte a pixel or two; the bytes are good during the call. */
  frame(position: number, size: { width: number; height: number }, luma: Uint8Array): void;
  /** The frame counts nothing, also where it was there before. */
  bad(position: number, error: string): void;
  /** For the log. */
  note(line: string): void;
}

type Sent = VideoPacket & { /** First packet of its group. */ group: number; isShown: boolean; damage?: string };

/**
 * Decodes part of a video, and returns the encoded bytes that were decoded. Where any of it is damaged, each group of
 * frames is decoded once more on its own: what a decoder gives up on after damage may depend on what comes behind, and must
 * not depend on how the video was cut. A decoder runs in one thread, because it may depend on their number as well; several
 * segments are decoded at once. Throws InputError.
 */
export function decodeSegment(ffmpeg: Ffmpeg, bytes: VideoBytes, request: SegmentRequest, sink: SegmentSink): number {
  const { wanted } = request;
  const shown = new Set<number>();
  const keep: SegmentSink = {
    ...sink,
    frame: (position, size, luma) => {
      if (shown.has(position)) return;
      shown.add(position);
      sink.frame(position, size, luma);
    },
  };
  let isDamaged = false;
  const noteDamage = () => {
    isDamaged = true;
  };
  const packets = decodeOnce(ffmpeg, bytes, request, { ...keep, bad: noteDamage });
  let inputBytes = bytesOf(packets);
  if (!isDamaged) return inputBytes;
  const before: VideoPacket[] = [];
  for (const group of cutAtKeys(packets)) {
    const first = group[0]!;
    const isOfGroup = (packet: number) => packet >= first.packet && packet <= group.at(-1)!.packet;
    const positions = wanted.flatMap(({ packet }, position) => (isOfGroup(packet) ? [position] : []));
    if (positions.length > 0) {
      const alone = {
        ...request,
        ...beginOf(framesOf(group, 0), before),
        end: Number.POSITIVE_INFINITY,
        wanted: positions.map((position) => wanted[position]!),
      };
      const again = decodeOnce(
        ffmpeg,
        bytes,
        alone,
        {
          ...keep,
          frame: (i, size, luma) => keep.frame(positions[i]!, size, luma),
          bad: (i, error) => keep.bad(positions[i]!, error),
        },
        first.packet,
      );
      inputBytes += bytesOf(again);
    }
    before.push(first);
  }
  // Those that the file did not hold any more.
  const last = packets.at(-1)?.packet ?? -1;
  for (const [position, { packet }] of wanted.entries()) if (packet > last) sink.bad(position, endsBefore);
  return inputBytes;
}

/** Of H.264 alone it is known that nothing goes on behind a clean key frame. */
const codecNamesOlder = ({ codec }: PacketReader): boolean => codec.name === 'h264';

const endsBefore = 'The video ends before this frame';

const bytesOf = (packets: readonly VideoPacket[]): number => packets.reduce((bytes, { size }) => bytes + size, 0);

function cutAtKeys(packets: readonly Sent[]): Sent[][] {
  const groups: Sent[][] = [];
  for (const packet of packets) {
    if (packet.packet === packet.group || groups.length === 0) groups.push([]);
    groups.at(-1)!.push(packet);
  }
  return groups;
}

/** Decodes up to `end`, or to the end of the group that begins with the packet `lastGroup`; returns the packets. */
function decodeOnce(
  ffmpeg: Ffmpeg,
  bytes: VideoBytes,
  request: SegmentRequest,
  sink: SegmentSink,
  lastGroup = Number.POSITIVE_INFINITY,
): Sent[] {
  const { start, strictFrom, end, wanted } = request;
  const reader = new PacketReader(ffmpeg, bytes);
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
      const name = ffmpeg.avGetPixFmtName(picture.format) ?? '';
      const format = lumaFormat(name);
      if (!format) {
        sink.bad(position, whyNoGray(name));
        positions.delete(keyOf(wanted[position]!.packet, wanted[position]!.order));
        return;
      }
      const lumaBytes = picture.width * picture.height * pixelBytes[format.pixel];
      if (luma.length < lumaBytes) luma = new Uint8Array(lumaBytes);
      const isFull = format.isFullRange || frame.colorRange === fullRange;
      copyLuma(picture.data![0]!, picture.linesize[0]!, picture, format, isFull, luma);
      sink.frame(position, picture, luma.subarray(0, lumaBytes));
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
    const send = (): void => {
      const code = decoder.sendPacketSync(reader.current);
      const after = drain();
      const failed = [code, after].find((c) => c < 0 && c !== averror.again && c !== averror.eof);
      if (failed !== undefined && sent.length > 0) sent.at(-1)!.damage ??= ffmpeg.FFmpegError.strerror(failed);
    };

    /** Gives out what the decoder holds, which it would drop where the size of frames changes. */
    const finish = (): void => {
      decoder.sendPacketSync(null);
      drain();
      decoder.flushBuffers();
    };

    for (let packet: VideoPacket | undefined = start; packet && packet.packet < end; packet = reader.read()) {
      if (packet.isKey && packet.packet > lastGroup) break;
      const group: number = packet.isKey || sent.length === 0 ? packet.packet : sent.at(-1)!.group;
      const damage = reader.current.flags & packetFlags.corrupt ? 'the container marks it as damaged' : undefined;
      if (packet.packet === Math.max(strictFrom, start.packet)) ffmpeg.Option.set(decoder, 'err_detect', strictly, 0);
      if (packet.isClean && codecNamesOlder(reader) && sent.length > 0) finish();
      sent.push({ ...packet, group, isShown: false, damage });
      // Decoders pass it on from packet to frame, and have no other use for it.
      reader.current.pts = BigInt(packet.packet);
      send();
    }
    finish();
    reportBad(request, sent, sink);
    return sent;
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
    if (!own) sink.bad(position, endsBefore);
    else if (!spoiled.has(packet)) continue;
    else if (order !== undefined)
      sink.bad(position, 'A frame between the same two key frames is damaged, and none of them tells its time');
    else if (own.damage) sink.bad(position, `The frame is damaged: ${own.damage}`);
    else if (!own.isShown) sink.bad(position, 'The frame is damaged: the decoder gives no picture for it');
    else sink.bad(position, 'The frame may be decoded from one before it that is damaged');
  }
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
