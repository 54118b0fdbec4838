import { isDeepStrictEqual } from 'node:util';
import type { VideoPacket } from '../video-frames.ts';
import { AviListing } from './avi-listing.ts';
import { type ReadGroup, SeekChecker } from './check-seeks.ts';
import type { Ffmpeg } from './ffmpeg.ts';
import { ListingBytes } from './listing-bytes.ts';
import { PacketReader } from './open-video.ts';
import type { VideoBytes } from './video-bytes.ts';

/**
 * Packets that are read before a container's tables are believed, which have to tell the same of them: what a file's
 * tables call key frames need not be what its stream begins anew with. It is what FFmpeg reads of 1080p to tell what a
 * stream is, 5 MB.
 */
const proven = 256;

/**
 * The packets of a video in the order of the file. Those of an MP4 are taken from its tables where those are right: an
 * hour of 1080p in 0.8 s instead of 6 (measured), and of one on a server the beginning is fetched, and the heads of key
 * frames. Those of an AVI are taken from the heads of its chunks and its index. To be closed.
 */
export class PacketList {
  readonly #ffmpeg: Ffmpeg;
  readonly #bytes: VideoBytes;
  #reader: PacketReader;
  #checker: SeekChecker | undefined;
  /** What packets are told by; undefined where all is read. */
  #tables: 'mp4' | 'avi' | undefined;
  /** Packets that the tables and the file tell alike, and that are to be given. */
  #compared: VideoPacket[] = [];
  #count = 0;
  #last: VideoPacket | undefined;
  #isRising = true;

  /** Throws InputError for what is no video that can be decoded. */
  constructor(ffmpeg: Ffmpeg, bytes: VideoBytes) {
    this.#ffmpeg = ffmpeg;
    this.#bytes = bytes;
    this.#reader = new PacketReader(ffmpeg, bytes);
  }

  /** What the last packet was read by; before the first, what tells of the stream as reading it does. */
  get reader(): PacketReader {
    return this.#reader;
  }

  /**
   * Whether seeking leads to the group that was read last, up to a packet behind it, while `isSought` does not tell.
   */
  isReached(group: ReadGroup): boolean {
    const isReached = this.#checkerHere.isReached(group);
    if (isReached || this.#tables !== 'avi') return isReached;
    // An index that is wrong somewhere is not gone by anywhere.
    this.#readThrough();
    return this.#checkerHere.isReached(group);
  }

  get #checkerHere(): SeekChecker {
    this.#checker ??= new SeekChecker(() => this.#open(this.#tables === 'avi' ? 'avi' : undefined));
    return this.#checker;
  }

  /**
   * Whether seeking leads to every packet so far and on to those behind it: the same tables give both, in which no time
   * comes twice. A packet is known by its place as well, so that nobody takes another for it.
   */
  get isSought(): boolean {
    return this.#tables === 'mp4' && this.#isRising;
  }

  /** The next packet, or undefined behind the last. Throws InputError for bytes that cannot be read. */
  read(): VideoPacket | undefined {
    if (this.#count === 0 && this.#reader.tables) this.#compareTables(this.#reader.tables);
    const packet = this.#compared.shift() ?? this.#readNext();
    if (!packet) return undefined;
    this.#count++;
    this.#isRising &&= !this.#last || isLater(packet, this.#last);
    this.#last = packet;
    return packet;
  }

  #readNext(): VideoPacket | undefined {
    const packet = this.#reader.read();
    if (!this.#reader.isInDoubt) return packet;
    this.#readThrough();
    return this.#reader.read();
  }

  close(): void {
    this.#reader.close();
    this.#checker?.close();
  }

  #open(tables?: 'mp4' | 'avi'): PacketReader {
    const bytes = this.#bytes;
    const listed = tables && (tables === 'mp4' ? new ListingBytes(bytes) : new AviListing(bytes));
    return new PacketReader(this.#ffmpeg, bytes, { listed });
  }

  /** Goes on with the tables where they tell the same of the first packets, and else as if nothing had been read. */
  #compareTables(of: 'mp4' | 'avi'): void {
    const tables = this.#open(of);
    let isSame = false;
    try {
      isSame = this.#isSameIn(tables);
    } finally {
      if (!isSame) tables.close();
    }
    this.#reader.close();
    this.#tables = isSame ? of : undefined;
    if (this.#tables === 'mp4') {
      this.#reader = tables;
      return;
    }
    // Where seeking leads is told by packets as they are read.
    this.#compared = [];
    if (isSame) tables.close();
    this.#reader = this.#open(this.#tables);
  }

  #isSameIn(tables: PacketReader): boolean {
    while (this.#compared.length < proven) {
      const read = this.#reader.read();
      if (!isDeepStrictEqual(tables.read(), read) || tables.isInDoubt) return false;
      if (!read) return true;
      const before = this.#compared.at(-1);
      if (before && !isLater(read, before)) return false;
      this.#compared.push(read);
    }
    return true;
  }

  /** Opens the file anew, and reads it up to the packet that was given last. */
  #readThrough(): void {
    this.close();
    this.#checker = undefined;
    this.#tables = undefined;
    this.#reader = this.#open();
    for (let passed = 0; passed < this.#count && this.#reader.read(); passed++);
  }
}

const isLater = ({ dts }: VideoPacket, before: VideoPacket): boolean =>
  dts !== null && before.dts !== null && dts > before.dts;
