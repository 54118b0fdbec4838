import { InputError } from '@halogrid/sources/input-error';
import type { VideoPacket } from '../video-frames.ts';
import type { Ffmpeg } from './ffmpeg.ts';
import { PacketReader } from './open-video.ts';
import type { VideoBytes } from './video-bytes.ts';

/** A video of which segments are decoded one after another. */
export interface OpenedVideo {
  bytes: VideoBytes;
  /** A reader that the segment before has left; to be closed. */
  spare?: PacketReader | undefined;
}

/**
 * Readers of a segment's packets, which all begin at its start: that is where it was planned that seeking leads. One
 * that has gone too far is of use for what is behind it, so a segment is read as many times as its groups overlap. To
 * be closed.
 */
export class SegmentReaders {
  readonly #ffmpeg: Ffmpeg;
  readonly #bytes: VideoBytes;
  readonly #start: VideoPacket;
  readonly #trustsHeaders: boolean;
  readonly #readers: PacketReader[] = [];
  #spare: PacketReader | undefined;

  /** `spare`: of the same video, from another segment's `close`; `trustsHeaders`: as of FormatOptions. */
  constructor(
    ffmpeg: Ffmpeg,
    { bytes, spare }: OpenedVideo,
    start: VideoPacket,
    { trustsHeaders }: { trustsHeaders: boolean },
  ) {
    this.#ffmpeg = ffmpeg;
    this.#bytes = bytes;
    this.#start = start;
    this.#spare = spare;
    this.#trustsHeaders = trustsHeaders;
  }

  /** One whose last packet is the one of that number. Throws InputError. */
  at(packet: number): PacketReader {
    let nearest: PacketReader | undefined;
    for (const reader of this.#readers) {
      const place = reader.last?.packet ?? Number.POSITIVE_INFINITY;
      if (place <= packet && place > (nearest?.last?.packet ?? -1)) nearest = reader;
    }
    const reader = nearest ?? this.#open();
    while (reader.last && reader.last.packet < packet) reader.read();
    if (!reader.last) throw changed();
    return reader;
  }

  #open(): PacketReader {
    const reader = this.#spare ?? new PacketReader(this.#ffmpeg, this.#bytes, { trustsHeaders: this.#trustsHeaders });
    this.#spare = undefined;
    this.#readers.push(reader);
    if (!reader.readTo(this.#start)) throw changed();
    return reader;
  }

  /** Gives back one that is of use for another segment of the video, where there is one; it is to be closed. */
  close(): PacketReader | undefined {
    const [first = this.#spare, ...others] = this.#readers;
    for (const reader of others) reader.close();
    if (first?.canGoOn) {
      first.startAgain();
      return first;
    }
    first?.close();
    return undefined;
  }
}

const changed = (): InputError => new InputError('read', 'The video has changed since the job was planned');
