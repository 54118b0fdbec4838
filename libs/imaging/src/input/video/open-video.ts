import { InputError } from '../input-error.ts';
import type { PixelType } from '../pixel-type.ts';
import { isCutShort } from './cut-short.ts';
import {
  attachedPicture,
  averror,
  type Codec,
  type Ffmpeg,
  noTimestamp,
  type Packet,
  packetFlags,
  type Stream,
  seekFlags,
  videoType,
} from './ffmpeg.ts';
import { hasIdr, nalLengthBytes } from './h264-units.ts';
import { codecs, type OpenFormat, openFormat } from './open-format.ts';
import { isPacked } from './packed-frames.ts';
import type { VideoBytes } from './video-bytes.ts';
import type { VideoPacket } from './video-frames.ts';
import { lumaFormat, whyNoGray } from './video-gray.ts';

const packed =
  'MPEG-4 video with two frames in a packet is not supported: ffmpeg -i IN.avi -c copy -bsf:v mpeg4_unpack_bframes OUT.avi parts them';

/** Packets that are looked at, at most, for one that seeking should have led to. */
const searchedPackets = 4096;

/** A video whose packets are being read. To be closed. */
export class PacketReader {
  readonly stream: Stream;
  readonly codec: Codec;
  /** Of the frames, as far as the container tells: each has its own. */
  readonly pixel: PixelType;
  /** The last packet that was read; good until the next is. */
  readonly current: Packet;
  readonly #ffmpeg: Ffmpeg;
  readonly #bytes: VideoBytes;
  #format: OpenFormat;
  readonly #nalLengthBytes: number;
  #next = 0;
  /** Why there are no more packets, where that is not the end of the file. */
  failure: string | undefined;

  /** Throws InputError for what is no video that can be decoded. */
  constructor(ffmpeg: Ffmpeg, bytes: VideoBytes) {
    this.#ffmpeg = ffmpeg;
    this.#bytes = bytes;
    this.#format = openFormat(ffmpeg, bytes);
    this.stream = findStream(this.#format);
    const { codecId, format } = this.stream.codecpar;
    const name = ffmpeg.avGetCodecName(codecId) ?? 'unknown';
    const codec = codecs.includes(name) ? ffmpeg.Codec.findDecoder(codecId) : null;
    if (!codec) throw new InputError('decode', `${name} video is not supported: H.264, H.265, MJPEG and MPEG-4 are`);
    // Where nobody can tell yet, frames that decode will say.
    const pixels = ffmpeg.avGetPixFmtName(format);
    const luma = pixels ? lumaFormat(pixels) : undefined;
    if (pixels && !luma) throw new InputError('decode', whyNoGray(pixels));
    this.pixel = luma?.pixel ?? 'u8';
    this.codec = codec;
    this.#nalLengthBytes = nalLengthBytes(this.stream.codecpar.extradata);
    this.current = new ffmpeg.Packet();
    this.current.alloc();
  }

  /** Frames that the file has by its index, where it ends before their bytes do; 0 otherwise. */
  get lostFrames(): number {
    const counts = /^(avi$|mov,)/.test(this.#format.context.iformat?.name ?? '');
    return counts && isCutShort(this.#bytes) ? Math.max(0, Number(this.stream.nbFrames) - this.#next) : 0;
  }

  /** The next packet of the video, or undefined behind the last. */
  read(): VideoPacket | undefined {
    for (;;) {
      this.current.unref();
      const code = this.#format.context.readFrameSync(this.current);
      if (code === averror.again) continue;
      if (code < 0) {
        if (code !== averror.eof) this.failure = this.#ffmpeg.FFmpegError.strerror(code);
        return undefined;
      }
      if (this.current.streamIndex === this.stream.index) return this.#describe(this.#next++);
    }
  }

  /** Reads up to a packet that was read before, maybe in another process; false where there is no such packet any more. */
  readTo(wanted: VideoPacket): boolean {
    if (wanted.packet === 0) return isSame(this.read(), wanted);
    const isByByte = this.#format.context.iformat?.name === 'mpegts' && wanted.position >= 0;
    const time = wanted.dts ?? wanted.pts;
    const flags = isByByte ? seekFlags.byte : seekFlags.backward;
    const place = isByByte ? wanted.position : time;
    if (place !== null && this.#format.context.seekFrameSync(this.stream.index, BigInt(place), flags) >= 0) {
      for (let i = 0; i < searchedPackets; i++) {
        const packet = this.read();
        if (!packet) break;
        if (!isSame(packet, wanted)) continue;
        this.#next = wanted.packet + 1;
        return true;
      }
    }
    // Containers without an index, or with a wrong one: from the beginning, by number.
    this.#format.close();
    this.#format = openFormat(this.#ffmpeg, this.#bytes);
    this.#next = 0;
    for (;;) {
      const packet = this.read();
      if (!packet) return false;
      if (packet.packet === wanted.packet) return isSame(packet, wanted);
    }
  }

  #describe(packet: number): VideoPacket {
    const { pts, dts, pos, size, flags } = this.current;
    if (this.codec.name === 'mpeg4' && isPacked(this.current.data)) throw new InputError('decode', packed);
    const isKey = (flags & packetFlags.key) !== 0;
    return {
      packet,
      pts: pts === noTimestamp ? null : Number(pts),
      dts: dts === noTimestamp ? null : Number(dts),
      position: Number(pos),
      size,
      isKey,
      isClean: isKey && (this.codec.name !== 'h264' || hasIdr(this.current.data, this.#nalLengthBytes)),
      isHidden: (flags & packetFlags.discard) !== 0,
    };
  }

  close(): void {
    this.current.free();
    this.#format.close();
  }
}

/** The first that is no cover picture. */
function findStream({ context: { streams }, close }: OpenFormat): Stream {
  const found = streams?.find(({ codecpar, disposition }) => {
    return codecpar.codecType === videoType && !(disposition & attachedPicture);
  });
  if (found) return found;
  const others = streams?.length ? 'sound or other streams only' : 'no streams';
  close();
  throw new InputError('decode', `The file has no video: it has ${others}`);
}

/** Times are not compared: after a seek some demuxers guess them otherwise. Edit lists may show a packet twice. */
function isSame(found: VideoPacket | undefined, wanted: VideoPacket): boolean {
  return (
    found !== undefined &&
    found.size === wanted.size &&
    found.position === wanted.position &&
    (found.dts === wanted.dts || found.dts === null || wanted.dts === null)
  );
}
