import type { PixelType } from '@halogrid/geometry';
import { InputError } from '@halogrid/sources/input-error';
import type { VideoPacket } from '../video-frames.ts';
import {
  averror,
  type Codec,
  type Ffmpeg,
  newExtradata,
  noTimestamp,
  type Packet,
  packetFlags,
  type Stream,
  seekFlags,
} from './ffmpeg.ts';
import { findStream } from './find-stream.ts';
import { type H264Picture, nalLengthBytes, pictureOf } from './h264-units.ts';
import type { ListedBytes } from './listing-bytes.ts';
import { isCutShort } from './mp4-boxes.ts';
import { decoders, type FormatOptions, type OpenFormat, openFormat } from './open-format.ts';
import type { VideoBytes } from './video-bytes.ts';
import { lumaFormat, whyNoGray } from './video-gray.ts';

/** The most packets that are looked at for one that seeking should have led to. */
const searchedPackets = 4096;

/** FFmpeg's names of containers that cut packets into parts: transport and program streams, and plain streams. */
const partContainers = ['mpegts', 'mpeg', 'h264', 'hevc'];

const noPicture: H264Picture = { isIdr: false, isReference: false, recovery: undefined, end: 0 };

/** Reads the packets of a video. It must be closed. Its calls throw InputError if bytes cannot be read. */
export class PacketReader {
  readonly codec: Codec;
  /** The type of the frames' pixels, as far as the container tells: each frame has its own. */
  readonly pixel: PixelType;
  /** The last packet that was read; undefined before the first and behind the last. */
  last: VideoPacket | undefined;
  /** Why there are no more packets, if that is not the end of the file. */
  failure: string | undefined;
  /** When the file says that it was made, in milliseconds since 1970 in UTC; undefined if it does not say. */
  readonly createdMs: number | undefined;
  /** The parameter sets that decoders need, if the container has replaced those in its header. */
  newExtradata: Buffer | undefined;
  readonly #ffmpeg: Ffmpeg;
  readonly #bytes: VideoBytes;
  readonly #listed: ListedBytes | undefined;
  readonly #formatOptions: FormatOptions;
  #isInDoubt = false;
  readonly #nalLengthBytes: number;
  /** FFmpeg's first name for the container. */
  readonly #container: string | undefined;
  #format: OpenFormat;
  /** The number of the stream in its container. */
  readonly #number: number;
  #stream: Stream;
  #current: Packet;
  /** The next packet, if it was asked for before its turn. */
  #ahead: Packet;
  #next: { packet: VideoPacket | undefined } | undefined;
  #count = 0;
  /**
   * Whether, since a key frame of H.264, pictures are refreshed part by part; and the number of reference pictures
   * since then.
   */
  #refreshes = false;
  #references = 0;

  /**
   * `listed`: used in place of `bytes`, to list packets without their contents; `trustsHeaders`: see FormatOptions.
   * Throws InputError for a file that is not a video that can be decoded.
   */
  constructor(
    ffmpeg: Ffmpeg,
    bytes: VideoBytes,
    { listed, trustsHeaders = false }: { listed?: ListedBytes | undefined; trustsHeaders?: boolean } = {},
  ) {
    this.#ffmpeg = ffmpeg;
    this.#bytes = listed ?? bytes;
    this.#listed = listed;
    this.#formatOptions = { asList: listed !== undefined, trustsHeaders };
    this.#format = openFormat(ffmpeg, this.#bytes, this.#formatOptions);
    this.createdMs = createdMsOf(this.#format);
    this.#container = this.#format.context.iformat?.name?.split(',')[0];
    try {
      this.#number = findStream(ffmpeg, this.#bytes, this.#format, this.#formatOptions);
      this.#stream = this.#format.context.streams![this.#number]!;
      const { format, extradata } = this.#stream.codecpar;
      this.codec = findCodec(ffmpeg, this.#stream.codecpar);
      // If the format is not known yet, decoded frames will tell it.
      const pixels = ffmpeg.avGetPixFmtName(format);
      const luma = pixels ? lumaFormat(pixels) : undefined;
      if (pixels && !luma) throw new InputError('decode', whyNoGray(pixels));
      this.pixel = luma?.pixel ?? 'u8';
      this.#nalLengthBytes = nalLengthBytes(extradata);
    } catch (error) {
      this.#format.close();
      throw error;
    }
    this.#current = new ffmpeg.Packet();
    this.#current.alloc();
    this.#ahead = new ffmpeg.Packet();
    this.#ahead.alloc();
  }

  /** Valid until the next call that seeks: that may close the container and open it again. */
  get stream(): Stream {
    return this.#stream;
  }

  /** The last packet that was read; valid until the next one is read. */
  get current(): Packet {
    return this.#current;
  }

  /** Whether the container cuts packets into parts, or there is no container; any part may be lost. */
  get isInParts(): boolean {
    return partContainers.includes(this.#container ?? '');
  }

  /**
   * Whether the first packet, which must have been read, needs an earlier one that the file lacks, and the decoder
   * would not notice: the decoder of MPEG-4 uses gray for a missing frame.
   */
  get beginsInside(): boolean {
    return this.isInParts && this.codec.name === 'mpeg4' && this.last?.isKey === false;
  }

  /** How many frames of its index the file lacks because it ends early; 0 if it is whole. */
  get lostFrames(): number {
    const counts = this.#isIn('avi') || this.#isIn('mov');
    return counts && isCutShort(this.#bytes) ? Math.max(0, Number(this.#stream.nbFrames) - this.#count) : 0;
  }

  /**
   * The kind of tables in the container that tell all there is to tell of packets, if they do. Tables do not tell
   * whether pictures of MPEG-4 are packed in twos, where units of H.264 without lengths lie in an MP4, or which packets
   * of H.265 in an AVI are key frames: FFmpeg looks into each packet.
   */
  get tables(): 'mp4' | 'avi' | undefined {
    const { name } = this.codec;
    if (this.#isIn('mov') && name !== 'mpeg4' && (name !== 'h264' || this.#nalLengthBytes > 0)) return 'mp4';
    return this.#isIn('avi') && (name === 'h264' || name === 'mjpeg') ? 'avi' : undefined;
  }

  /**
   * Whether after a seek the reader is as good as a new one. It is so for MP4 and QuickTime, whose packets are told by
   * an index, if no packet has replaced the parameter sets that decoders need.
   */
  get canGoOn(): boolean {
    return this.#isIn('mov') && this.newExtradata === undefined && this.failure === undefined;
  }

  /** Forgets what it has counted; call it only if `canGoOn`. */
  startAgain(): void {
    this.#refreshes = false;
    this.#references = 0;
  }

  /** Whether the listed packets may differ from the packets that reading gives. Ask again when there are no more. */
  get isInDoubt(): boolean {
    if (!this.#listed) return false;
    if (!this.last) this.#listed.lookAtRest();
    return this.#isInDoubt || this.#listed.isInDoubt || this.failure !== undefined;
  }

  /** The next packet of the video, or undefined behind the last. */
  read(): VideoPacket | undefined {
    if (this.#next) {
      [this.#current, this.#ahead] = [this.#ahead, this.#current];
      this.last = this.#next.packet;
      this.#next = undefined;
    } else {
      this.last = this.#readInto(this.#current);
    }
    const extradata = this.last && this.#current.getSideData(newExtradata);
    if (extradata) this.newExtradata = Buffer.from(extradata);
    return this.last;
  }

  /** The packet that `read` will give. */
  peek(): VideoPacket | undefined {
    this.#next ??= { packet: this.#readInto(this.#ahead) };
    return this.#next.packet;
  }

  /** Reads up to a packet that was read before, maybe in another process; false if there is no such packet any more. */
  readTo(wanted: VideoPacket): boolean {
    if (wanted.packet > 0 && this.seekTo(wanted)) return true;
    // Containers without an index, or with a wrong one: from the beginning, by number.
    if (this.#count > 0 || wanted.packet > 0) this.#openAgain();
    for (;;) {
      const packet = this.read();
      if (!packet) return false;
      if (packet.packet === wanted.packet) return this.#isSame(packet, wanted);
    }
  }

  /**
   * Reads up to a packet by seeking. Returns false if that does not lead to it; then the next packet may be any or
   * none.
   */
  seekTo(wanted: VideoPacket): boolean {
    const { pts, dts, position } = wanted;
    if (this.isInParts && position >= 0) return this.#seekBy(position, seekFlags.byte, wanted);
    // MP4 and Matroska seek by times of presentation: times of decoding lead to the group before.
    const times = new Set(this.isInParts ? [dts ?? pts] : [pts, dts]);
    return [...times].some((time) => time !== null && this.#seekBy(time, seekFlags.backward, wanted));
  }

  #seekBy(place: number, flags: number, wanted: VideoPacket): boolean {
    this.#next = undefined;
    const code = this.#format.context.seekFrameSync(this.#stream.index, BigInt(place), flags);
    this.#format.checkReads();
    if (code < 0) return false;
    for (let i = 0; i < searchedPackets; i++) {
      const packet = this.read();
      if (!packet) return false;
      if (this.#isSame(packet, wanted)) {
        this.#count = wanted.packet + 1;
        this.last = { ...packet, packet: wanted.packet };
        return true;
      }
      // An MP4 has an index, and packets in any place. In all other containers, a packet that was passed does not come
      // again.
      const isPassed = this.#isIn('mov')
        ? i === 0 && isBehind(packet, wanted)
        : wanted.position >= 0 && packet.position > wanted.position;
      if (isPassed) return false;
    }
    return false;
  }

  close(): void {
    this.#current.free();
    this.#ahead.free();
    this.#format.close();
  }

  #isIn(container: 'avi' | 'mov'): boolean {
    return this.#container === container;
  }

  /** Also takes the stream of the new format: the old one is closed. */
  #openAgain(): void {
    this.#format.close();
    this.#format = openFormat(this.#ffmpeg, this.#bytes, this.#formatOptions);
    this.#stream = this.#format.context.streams![this.#number]!;
    this.#next = undefined;
    this.#count = 0;
    this.failure = undefined;
    this.newExtradata = undefined;
  }

  #readInto(raw: Packet): VideoPacket | undefined {
    for (;;) {
      raw.unref();
      const code = this.#format.context.readFrameSync(raw);
      this.#format.checkReads();
      if (code === averror.again) continue;
      if (code < 0) {
        if (code !== averror.eof) this.failure = this.#ffmpeg.FFmpegError.strerror(code);
        return undefined;
      }
      if (raw.streamIndex === this.#number) return this.#describe(raw, this.#count++);
    }
  }

  #describe(raw: Packet, packet: number): VideoPacket {
    const { pts, dts, pos, size, flags } = raw;
    const isKey = (flags & packetFlags.key) !== 0;
    const isH264 = this.codec.name === 'h264';
    // In an AVI, a packet is a key frame if it can be decoded alone, whatever the index says.
    const isLookedAt = isKey || this.#refreshes || (this.#listed && this.#isIn('avi'));
    const picture = isH264 && isLookedAt ? this.#pictureOf(raw) : undefined;
    if (this.#listed) this.#isInDoubt ||= !this.#isAsListed(raw, picture);
    const references = this.#references;
    this.#refreshes ||= isKey && (picture?.recovery ?? 0) > 0;
    if (this.#refreshes && picture?.isReference) this.#references++;
    return {
      packet,
      pts: pts === noTimestamp ? null : Number(pts),
      dts: dts === noTimestamp ? null : Number(dts),
      position: Number(pos),
      size,
      isKey,
      isClean: isKey && (picture?.isIdr ?? true),
      isHidden: (flags & packetFlags.discard) !== 0,
      ...(picture && isKey && !picture.isIdr ? { references, recovery: picture.recovery ?? 0 } : {}),
    };
  }

  #pictureOf(packet: Packet): H264Picture {
    const lengthBytes = this.#nalLengthBytes;
    const data = this.#listed ? null : packet.data;
    if (!this.#listed) return (data && pictureOf(data, lengthBytes)) ?? noPicture;
    const { pos, size } = packet;
    for (const bytes of this.#listed.pictureHeads) {
      if (bytes >= size) break;
      const found = pictureOf(this.#listed.real(Number(pos), bytes), lengthBytes);
      if (found) return found;
    }
    return pictureOf(this.#listed.real(Number(pos), size), lengthBytes) ?? noPicture;
  }

  /**
   * Whether FFmpeg would describe a packet in the same way if it read it: then it tells key frames by what packets
   * hold.
   */
  #isAsListed({ size, flags }: Packet, picture: H264Picture | undefined): boolean {
    if (size === 0 || flags & packetFlags.corrupt) return false;
    if (!picture) return true;
    const isKey = picture.isIdr || picture.recovery !== undefined;
    if (this.#isIn('avi')) return isKey === ((flags & packetFlags.key) !== 0);
    return !(flags & packetFlags.key) || (picture.end <= size && isKey);
  }

  /**
   * A packet that must not be sought has no place. Edit lists may show one twice, at two times. AVI has no times: it
   * counts packets, and counts them differently after a seek in a damaged file.
   */
  #isSame(found: VideoPacket, wanted: VideoPacket): boolean {
    const hasPlace = wanted.position >= 0;
    const isAtPlace = !hasPlace || found.position === wanted.position;
    const isAtTime = (hasPlace && this.#isIn('avi')) || found.dts === wanted.dts;
    return found.size === wanted.size && isAtPlace && (isAtTime || found.dts === null || wanted.dts === null);
  }
}

const isBehind = ({ dts }: VideoPacket, wanted: VideoPacket): boolean =>
  dts !== null && wanted.dts !== null && dts > wanted.dts;

/** FFmpeg gives the creation time of MP4 and Matroska as ISO 8601 in UTC, and leaves out one that is 0. */
function createdMsOf({ context: { metadata } }: OpenFormat): number | undefined {
  const createdMs = Date.parse(metadata?.get('creation_time', 0) ?? '');
  return Number.isNaN(createdMs) ? undefined : Math.floor(createdMs);
}

function findCodec(ffmpeg: Ffmpeg, { codecId, codecTag }: Stream['codecpar']): Codec {
  const name = ffmpeg.avGetCodecName(codecId) ?? 'none';
  const codec = Object.hasOwn(decoders, name) ? ffmpeg.Codec.findDecoder(codecId) : null;
  if (codec && codec.name === decoders[name]) return codec;
  const what = name === 'none' ? `Video of a codec that FFmpeg does not know${calledBy(codecTag)}` : `${name} video`;
  throw new InputError('decode', `${what} is not supported: H.264, H.265, AV1, VP9, MJPEG and MPEG-4 are`);
}

/** The container's code of a codec: as four characters if they are printable. */
function calledBy(tag: number): string {
  if (tag === 0) return '';
  const characters = [0, 8, 16, 24].map((shift) => (tag >>> shift) & 0xff);
  const isPrintable = characters.every((code) => code >= 0x20 && code < 0x7f);
  return ` (${isPrintable ? `'${String.fromCharCode(...characters)}'` : `0x${(tag >>> 0).toString(16)}`})`;
}
