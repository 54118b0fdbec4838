import { InputError } from '@halogrid/sources/input-error';
import type { VideoPacket } from '../video-frames.ts';
import type { Ffmpeg } from './ffmpeg.ts';
import { PacketReader } from './open-video.ts';
import type { VideoBytes } from './video-bytes.ts';

/** A video whose segments are decoded one after another. */
export interface OpenedVideo {
  bytes: VideoBytes;
  /** A reader that the last segment has left; it must be closed. */
  spare?: PacketReader | undefined;
}

/**
 * Readers of a segment's packets. All begin at the segment's start, to which seeking leads, as planning has found. A
 * reader that has gone too far still serves for later packets, so a segment is read as many times as its groups
 * overlap. Must be closed.
 */
export class SegmentReaders {
  readonly #ffmpeg: Ffmpeg;
  readonly #bytes: VideoBytes;
  readonly #start: VideoPacket;
  readonly #trustsHeaders: boolean;
  readonly #readers: PacketReader[] = [];
  #spare: PacketReader | undefined;

  /** `spare`: a reader of the same video, from another segment's `close`; `trustsHeaders`: see FormatOptions. */
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

  /** A reader whose last packet has that number. Throws InputError. */
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

  /** Returns a reader that another segment of the video can use, if there is one; it must be closed. */
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
