import { isDeepStrictEqual } from 'node:util';
import type { VideoPacket } from '../video-frames.ts';
import { AviListing } from './avi-listing.ts';
import { type ReadGroup, SeekChecker } from './check-seeks.ts';
import type { Ffmpeg } from './ffmpeg.ts';
import { ListingBytes } from './listing-bytes.ts';
import { PacketReader } from './open-video.ts';
import type { VideoBytes } from './video-bytes.ts';

/**
 * Packets that are read and must agree with a container's tables before these are believed: what tables call a key
 * frame need not be one in the stream. FFmpeg reads as much, 5 MB of 1080p, to tell what a stream is.
 */
const proven = 256;

/**
 * The packets of a video in the order of the file. For an MP4 they are taken from its tables if these are right: an
 * hour of 1080p takes 0.8 s instead of 6 (measured), and from a server only the beginning and the heads of key frames
 * are fetched. For an AVI they are taken from the heads of its chunks and its index. The list must be closed.
 */
export class PacketList {
  readonly #ffmpeg: Ffmpeg;
  readonly #bytes: VideoBytes;
  #reader: PacketReader;
  #checker: SeekChecker | undefined;
  /** The tables that packets are taken from; undefined if all of the file is read. */
  #tables: 'mp4' | 'avi' | undefined;
  /** Packets on which the tables and the file agree, and that are to be given next. */
  #compared: VideoPacket[] = [];
  #count = 0;
  #last: VideoPacket | undefined;
  #isRising = true;

  /** Throws InputError for a file that is not a video that can be decoded. */
  constructor(ffmpeg: Ffmpeg, bytes: VideoBytes) {
    this.#ffmpeg = ffmpeg;
    this.#bytes = bytes;
    this.#reader = new PacketReader(ffmpeg, bytes);
  }

  /** The reader of the last packet; before the first packet, one that tells what the stream is. */
  get reader(): PacketReader {
    return this.#reader;
  }

  /**
   * Whether seeking leads to the group that was read last, up to a packet behind it. Ask only if `isSought` is false.
   */
  isReached(group: ReadGroup): boolean {
    const isReached = this.#checkerHere.isReached(group);
    if (isReached || this.#tables !== 'avi') return isReached;
    // An index that is wrong in one place is not trusted in any.
    this.#readThrough();
    return this.#checkerHere.isReached(group);
  }

  get #checkerHere(): SeekChecker {
    this.#checker ??= new SeekChecker(() => this.#open(this.#tables === 'avi' ? 'avi' : undefined));
    return this.#checker;
  }

  /**
   * Whether seeking is sure to lead to every packet so far, and on to those behind it: seeking and listing use the same
   * tables, in which no time comes twice. Readers also check a packet's place, so no other packet is taken for it.
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

  /**
   * Goes on with the tables if they agree with the first packets that are read, or else as if nothing had been read.
   */
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
    // Reading begins again: only packets that are read in order tell where seeking leads.
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

  /** Opens the file again, and reads it up to the packet that was given last. */
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
