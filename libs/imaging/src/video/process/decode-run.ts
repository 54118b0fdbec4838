import type { VideoPacket } from '../video-frames.ts';
import { averror, type Ffmpeg, type Frame, frameFlags, packetFlags } from './ffmpeg.ts';
import type { FramePixels } from './frame-pixels.ts';
import { type FfmpegHardware, openDecoder } from './open-decoder.ts';
import type { PacketReader } from './open-video.ts';

/** A packet that was given to a decoder, and what came of it. */
export type SentPacket = VideoPacket & {
  /** First packet of its group. */
  group: number;
  isShown: boolean;
  damage?: string;
};

/** The picture that a decoder gives for a packet; valid during the call of `show`. */
export interface PacketPicture {
  /** A text says why there is no picture. */
  frame: Frame | FramePixels | string;
  packet: SentPacket;
  /** Its place among the pictures of the packet's group. */
  order: number;
  /** Whether the decoder has met damage by then. */
  isAfterDamage: boolean;
}

export interface RunRequest {
  /** Faults of packets before this one are ignored: they come from beginning in the middle. */
  strictFrom: number;
  /** Whether the run ends before this packet, which is then the reader's last. */
  isEnd(packet: VideoPacket): boolean;
  /** Whether the picture of this packet, which has this order in its group, is wanted. */
  isWanted(packet: SentPacket, order: number): boolean;
  show(picture: PacketPicture): void;
}

/** Decodes packets of a reader, from its last one on, in a new decoder. Throws InputError. */
export function decodeRun(
  ffmpeg: Ffmpeg,
  reader: PacketReader,
  hardware: FfmpegHardware | undefined,
  { strictFrom, isEnd, show }: Omit<RunRequest, 'isWanted'>,
): SentPacket[] {
  const decoder = openDecoder(ffmpeg, reader, hardware);
  const frame = new ffmpeg.Frame();
  frame.alloc();
  try {
    const first = reader.last!.packet;
    const sent: SentPacket[] = [];
    const shownOfGroup = new Map<number, number>();
    let isAfterDamage = false;
    const hurt = (packet: SentPacket, why: string): void => {
      packet.damage ??= why;
      isAfterDamage ||= packet.packet >= strictFrom;
    };

    const drain = (): number => {
      for (;;) {
        const code = decoder.receiveFrameSync(frame);
        if (code < 0) return code;
        const packet = sent[Number(frame.pts) - first];
        if (packet) {
          packet.isShown = true;
          if (frame.flags & frameFlags.corrupt || frame.decodeErrorFlags) hurt(packet, 'parts of it are missing');
          const order = shownOfGroup.get(packet.group) ?? 0;
          shownOfGroup.set(packet.group, order + 1);
          show({ frame, packet, order, isAfterDamage });
        }
        frame.unref();
      }
    };
    const send = (): void => {
      const code = decoder.sendPacketSync(reader.current);
      const after = drain();
      const failed = [code, after].find((c) => c < 0 && c !== averror.again && c !== averror.eof);
      if (failed !== undefined) hurt(sent.at(-1)!, ffmpeg.FFmpegError.strerror(failed));
    };

    /** Gives out the frames that the decoder holds: it would drop them if the size of frames changes. */
    const finish = (): void => {
      decoder.sendPacketSync(null);
      drain();
      decoder.flushBuffers();
    };

    for (let packet = reader.last; packet && (sent.length === 0 || !isEnd(packet)); packet = reader.read()) {
      const group = packet.isKey || sent.length === 0 ? packet.packet : sent.at(-1)!.group;
      if (packet.packet === Math.max(strictFrom, first)) ffmpeg.Option.set(decoder, 'err_detect', strictly, 0);
      if (packet.isClean && reader.codec.name === 'h264' && sent.length > 0) finish();
      sent.push({ ...packet, group, isShown: false });
      if (reader.current.flags & packetFlags.corrupt) hurt(sent.at(-1)!, 'the container marks it as damaged');
      if (packet.packet === 0 && reader.beginsInside) hurt(sent.at(-1)!, 'the recording begins behind its key frame');
      // Decoders copy this number from packet to frame, and do not use it otherwise.
      reader.current.pts = BigInt(packet.packet);
      send();
    }
    finish();
    return sent;
  } finally {
    frame.free();
    decoder.freeContext();
  }
}

/** A frame with any error is given up, even if only its checksum is wrong. */
const strictly = 'crccheck+explode';
