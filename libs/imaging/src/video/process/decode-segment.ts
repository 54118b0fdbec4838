import {
  areTimed,
  beginOf,
  framesOf,
  groupsBefore,
  untrusted,
  type VideoPacket,
  withoutLeading,
} from '../video-frames.ts';
import { decodeRun, type PacketPicture, type RunRequest, type SentPacket } from './decode-run.ts';
import type { Ffmpeg, Frame } from './ffmpeg.ts';
import { colourOf, grayOf, lumaOrGrayOf } from './frame-of-ffmpeg.ts';
import type { FramePixels } from './frame-pixels.ts';
import { decodeJpegRun } from './jpeg-run.ts';
import { nvdecRun } from './nvdec-run.ts';
import { type FfmpegHardware, openFfmpegHardware } from './open-decoder.ts';
import { type NvdecForStream, openNvdec } from './open-nvdec.ts';
import type { PacketReader } from './open-video.ts';
import { type OpenedVideo, SegmentReaders } from './segment-readers.ts';
import type { HardwareFound, SegmentRequest } from './segment-request.ts';

/** Takes the frames of a segment, and what is wrong with them. A position is an index of `wanted`. */
export interface SegmentSink {
  /** `pixels` are valid during the call. */
  frame(position: number, pixels: FramePixels): void;
  /** The frame does not count, even if it was given before. */
  bad(position: number, error: string): void;
  /**
   * The time at which the file says it was made, in milliseconds since 1970 in UTC; called before the first frame, if
   * at all.
   */
  created(ms: number): void;
  /** For the log. */
  note(line: string): void;
  /**
   * Called for "cuda", before the first frame and again if it changes: how many engines there are, and whether they
   * decode this segment.
   */
  hardware(found: HardwareFound): void;
}

/**
 * Decodes part of a video, and returns the number of encoded bytes that were decoded. The result for a frame depends on
 * the file alone. So each group that stands alone gets a new decoder. If anything is damaged, each group is decoded
 * again as if it alone were wanted, because what a decoder gives up on after damage may depend on the packets before
 * and behind. Cores decode again what hardware decoded if it is damaged, or may be. A decoder runs in one thread,
 * because the result may depend on the number of threads as well; several segments are decoded at once. Throws
 * InputError.
 */
export function decodeSegment(ffmpeg: Ffmpeg, video: OpenedVideo, request: SegmentRequest, sink: SegmentSink): number {
  // Whether hardware may decode it depends on the format of its pixels, which headers do not tell.
  const trustsHeaders = request.hwaccel === '';
  const readers = new SegmentReaders(ffmpeg, video, request.start, { trustsHeaders });
  video.spare = undefined;
  try {
    const reader = readers.at(request.start.packet);
    if (reader.createdMs !== undefined) sink.created(reader.createdMs);
    const hardware = openHardware(ffmpeg, reader, request, sink);
    return new SegmentDecoding(ffmpeg, readers, hardware, request, sink).decode(reader);
  } finally {
    video.spare = readers.close();
  }
}

type Hardware = { kind: 'ffmpeg'; of: FfmpegHardware } | { kind: 'nvdec'; of: NvdecForStream };

function openHardware(
  ffmpeg: Ffmpeg,
  reader: PacketReader,
  request: SegmentRequest,
  sink: SegmentSink,
): Hardware | undefined {
  // JPEGs are decoded by libjpeg alone.
  if (request.hwaccel === '' || (reader.codec.name === 'mjpeg' && request.hwaccel !== 'cuda')) return undefined;
  if (request.hwaccel === 'cuda') {
    const of = openNvdec(ffmpeg, reader, request, sink);
    return of && { kind: 'nvdec', of };
  }
  const of = openFfmpegHardware(ffmpeg, reader, request.hwaccel, sink.note);
  return of && { kind: 'ffmpeg', of };
}

class SegmentDecoding {
  readonly #ffmpeg: Ffmpeg;
  readonly #readers: SegmentReaders;
  readonly #hardware: Hardware | undefined;
  readonly #request: SegmentRequest;
  readonly #sink: SegmentSink;
  /** Positions of the wanted frames, by `keyOf` of each. */
  readonly #positions: Map<string, number>;
  /** Positions of frames that were given out. */
  readonly #shown = new Set<number>();
  #inputBytes = 0;

  constructor(
    ffmpeg: Ffmpeg,
    readers: SegmentReaders,
    hardware: Hardware | undefined,
    request: SegmentRequest,
    sink: SegmentSink,
  ) {
    this.#ffmpeg = ffmpeg;
    this.#readers = readers;
    this.#hardware = hardware;
    this.#request = request;
    this.#sink = sink;
    this.#positions = new Map(request.wanted.map(({ packet, order }, i) => [keyOf(packet, order), i]));
  }

  /** Decodes all; `reader` is at the start. */
  decode(reader: PacketReader): number {
    const { end, wanted } = this.#request;
    let last = -1;
    let before: VideoPacket[] = [];
    while (reader.last && reader.last.packet < end) {
      const runs = this.#hardware ? this.#runInHardware(reader, this.#hardware) : [this.#runOnCores(reader)];
      last = runs.at(-1)!.at(-1)!.packet;
      for (const sent of runs) {
        const groups = cutAtKeys(sent);
        if (this.#isHurt(sent)) this.#decodeEach(groups, before, sent === runs.at(-1) ? restOfGroup(reader) : []);
        before = [...before, ...groups.map(([first]) => first!)].slice(-groupsBefore);
      }
    }
    for (const [position, { packet }] of wanted.entries()) if (packet > last) this.#sink.bad(position, endsBefore);
    return this.#inputBytes;
  }

  /** Decodes from the reader's last packet up to the next one that stands alone. */
  #runOnCores(reader: PacketReader): SentPacket[] {
    return this.#run(reader, {
      strictFrom: this.#request.strictFrom,
      isEnd: (packet) => packet.packet >= this.#request.end || this.#standsAlone(packet, reader),
      // Pictures after damage are decoded again.
      show: (picture) => !picture.isAfterDamage && this.#show(picture),
    });
  }

  /**
   * Decodes all of the segment in one run, because a decoder in hardware takes long to open, or to give its first
   * frame. Returns its packets, cut where a run on cores would end.
   */
  #runInHardware(reader: PacketReader, hardware: Hardware): SentPacket[][] {
    const { strictFrom, end } = this.#request;
    const starts: number[] = [];
    const request: Omit<RunRequest, 'isWanted'> = {
      strictFrom,
      isEnd: (packet) => {
        if (this.#standsAlone(packet, reader)) starts.push(packet.packet);
        return packet.packet >= end;
      },
      show: (picture) => !picture.isAfterDamage && this.#show(picture),
    };
    const sent =
      hardware.kind === 'ffmpeg'
        ? decodeRun(this.#ffmpeg, reader, hardware.of, request)
        : nvdecRun(hardware.of.nvdec, reader, hardware.of.stream, request, hardware.of.failed);
    for (const { size } of sent) this.#inputBytes += size;
    if (hardware.kind === 'nvdec' && this.#isHurt(sent)) hardware.of.doubted();
    const ends = [...starts.filter((packet) => packet < end), Number.POSITIVE_INFINITY];
    let from = 0;
    return ends.map((until) => {
      const first = from;
      while (from < sent.length && sent[from]!.packet < until) from++;
      return sent.slice(first, from);
    });
  }

  /** Whether some of these packets are damaged. */
  #isHurt(sent: readonly SentPacket[]): boolean {
    const isBad = isDamaged(this.#request.strictFrom);
    return sent.some((packet) => isBad(packet) && !this.#isLeftOut(packet, sent[0]!));
  }

  /**
   * Whether a packet has no picture because decoding began with the key frame before it, and the packet is shown before
   * that key frame: the packets that it needs were not read. No other frame needs it, and it is not wanted.
   */
  #isLeftOut({ packet, group, pts, damage }: SentPacket, first: SentPacket): boolean {
    const { start, wanted } = this.#request;
    const isInFirst = first.packet === start.packet && group === start.packet;
    const isLeading = isInFirst && pts !== null && first.pts !== null && pts < first.pts;
    const isAsked = wanted.some((its) => its.packet === (its.order === undefined ? packet : group));
    return isLeading && damage === undefined && !isAsked;
  }

  /** Whether decoding can begin with this packet, as far as the packet behind it tells. */
  #standsAlone({ isClean, pts }: VideoPacket, reader: PacketReader): boolean {
    if (!isClean || pts === null) return false;
    const next = reader.peek();
    return !next || next.isKey || (next.pts !== null && next.pts >= pts);
  }

  /**
   * Decodes successive groups, each as if it alone were wanted; `rest`: packets of the last group that are not in it.
   */
  #decodeEach(groups: readonly SentPacket[][], before: readonly VideoPacket[], rest: readonly VideoPacket[]): void {
    const firsts = [...before];
    for (const group of groups) {
      const whole = group === groups.at(-1) ? [...group, ...rest] : group;
      const numbers = new Set(group.map(({ packet }) => packet));
      if (this.#request.wanted.some(({ packet }) => numbers.has(packet)))
        this.#decodeAlone(whole, firsts.slice(-groupsBefore));
      firsts.push(group[0]!);
    }
  }

  /**
   * Decodes a group in the way that segments are planned: frames that are shown before the key frame need the group
   * before, the others do not.
   */
  #decodeAlone(group: readonly VideoPacket[], before: readonly VideoPacket[]): void {
    const frames = framesOf(group, 0);
    const begin = beginOf(frames, before);
    if (frames.leading === 0) {
      this.#decodePart(group, begin, () => true);
      return;
    }
    const isLeading = ({ pts }: VideoPacket): boolean => pts! < frames.first.pts!;
    const wants = (part: readonly VideoPacket[]) => part.some(({ packet }) => this.#positions.has(keyOf(packet)));
    if (wants(group.filter(isLeading))) this.#decodePart(group, begin, isLeading);
    const others = (packet: VideoPacket): boolean => !isLeading(packet);
    if (wants(group.filter(others))) this.#decodePart(group, beginOf(withoutLeading(frames), before), others);
  }

  /** Decodes a group from `start` on, for its packets that `isIn` accepts. */
  #decodePart(
    group: readonly VideoPacket[],
    { start, strictFrom }: ReturnType<typeof beginOf>,
    isIn: (packet: VideoPacket) => boolean,
  ): void {
    const first = group[0]!.packet;
    const decodeTo = (end: number) =>
      this.#run(this.#readers.at(start.packet), {
        strictFrom,
        isEnd: ({ packet, isKey }) => packet >= end || (isKey && packet > first),
        show: (picture) => picture.packet.group === first && isIn(picture.packet) && this.#show(picture),
      });
    const sent = decodeTo(Number.POSITIVE_INFINITY);
    const hurt = sent.findIndex(({ packet, damage }) => packet >= strictFrom && damage !== undefined);
    // At an error, a decoder may drop earlier frames that it still held. A segment that ends there would have them.
    if (hurt > 0 && areTimed(group) && sent.slice(0, hurt).some(isDamaged(strictFrom))) {
      for (const [i, { isShown, damage }] of decodeTo(sent[hurt]!.packet).entries()) {
        if (isShown) sent[i]!.isShown = true;
        if (damage) sent[i]!.damage ??= damage;
      }
    }
    this.#report(sent, strictFrom, first, isIn);
  }

  #run(reader: PacketReader, given: Omit<RunRequest, 'isWanted'>): SentPacket[] {
    const request = { ...given, isWanted: (packet: SentPacket, order: number) => this.#isWanted(packet, order) };
    const sent =
      reader.codec.name === 'mjpeg'
        ? decodeJpegRun(reader, this.#request.encoded ? 'encoded' : this.#isColour ? 3 : 1, request)
        : decodeRun(this.#ffmpeg, reader, undefined, request);
    for (const { size } of sent) this.#inputBytes += size;
    return sent;
  }

  get #isColour(): boolean {
    return this.#request.channels === 'rgb';
  }

  #isWanted({ packet, group }: SentPacket, order: number): boolean {
    return this.#positions.has(keyOf(packet)) || this.#positions.has(keyOf(group, order));
  }

  /** Gives out a picture, if it is wanted and was not given out before. */
  #show({ frame, packet, order }: PacketPicture): void {
    const position = this.#positions.get(keyOf(packet.packet)) ?? this.#positions.get(keyOf(packet.group, order));
    if (position === undefined || packet.damage || this.#shown.has(position)) return;
    if (typeof frame === 'string') this.#sink.bad(position, frame);
    else if ('planes' in frame) this.#give(position, frame);
    else if (!frame.isHwFrame()) this.#give(position, this.#pixelsOf(frame, frame));
    else {
      const inMemory = new this.#ffmpeg.Frame();
      inMemory.alloc();
      try {
        const code = frame.hwframeTransferDataSync(inMemory);
        if (code < 0)
          throw new Error(`A frame cannot be had of the hardware: ${this.#ffmpeg.FFmpegError.strerror(code)}`);
        this.#give(position, this.#pixelsOf(inMemory, frame));
      } finally {
        inMemory.free();
      }
    }
  }

  /** `stated` says what the samples of `frame` mean. */
  #pixelsOf(frame: Frame, stated: Pick<Frame, 'colorRange' | 'colorSpace'>): FramePixels | string {
    const name = this.#ffmpeg.avGetPixFmtName(frame.format) ?? '';
    if (this.#isColour) return colourOf(frame, name, stated);
    return this.#request.asDecoded ? lumaOrGrayOf(frame, name, stated) : grayOf(frame, name, stated, 1);
  }

  /** A text says why there are no pixels. */
  #give(position: number, pixels: FramePixels | string): void {
    if (typeof pixels === 'string') {
      this.#sink.bad(position, pixels);
      return;
    }
    this.#shown.add(position);
    this.#sink.frame(position, pixels);
  }

  /**
   * Tells the sink why a wanted frame of the group did not come or is not to be trusted, for packets that `isIn`
   * accepts.
   */
  #report(
    sent: readonly SentPacket[],
    strictFrom: number,
    group: number,
    isIn: (packet: VideoPacket) => boolean,
  ): void {
    const first = sent[0]!.packet;
    const isBad = isDamaged(strictFrom);
    const spoiled = untrusted(sent, (packet) => isBad(sent[packet - first]!));
    for (const [position, { packet, order }] of this.#request.wanted.entries()) {
      const own = sent[packet - first];
      if (own?.group !== group || !isIn(own) || !spoiled.has(packet)) continue;
      if (order !== undefined)
        this.#sink.bad(position, 'A frame between the same two key frames is damaged, and none of them tells its time');
      else if (own.damage) this.#sink.bad(position, `The frame is damaged: ${own.damage}`);
      else if (!own.isShown) this.#sink.bad(position, 'The frame is damaged: the decoder gives no picture for it');
      else this.#sink.bad(position, 'The frame may be decoded from one before it that is damaged');
    }
  }
}

const endsBefore = 'The video ends before this frame';

const keyOf = (packet: number, order?: number): string => (order === undefined ? `${packet}` : `${packet}+${order}`);

/** Whether a packet counts and was not decoded correctly. */
const isDamaged =
  (strictFrom: number) =>
  ({ packet, isShown, isHidden, damage }: SentPacket): boolean =>
    packet >= strictFrom && (damage !== undefined || !(isShown || isHidden));

function cutAtKeys(packets: readonly SentPacket[]): SentPacket[][] {
  const groups: SentPacket[][] = [];
  for (const packet of packets) {
    if (packet.packet === packet.group || groups.length === 0) groups.push([]);
    groups.at(-1)!.push(packet);
  }
  return groups;
}

/** The packets from a reader's last one on, up to the next key frame; empty if the last one is a key frame. */
function restOfGroup(reader: PacketReader): VideoPacket[] {
  const rest: VideoPacket[] = [];
  for (let packet = reader.last; packet && !packet.isKey; packet = reader.read()) rest.push(packet);
  return rest;
}
