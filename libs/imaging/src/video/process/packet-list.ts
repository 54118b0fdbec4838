import { isDeepStrictEqual } from 'node:util';
import type { VideoPacket } from '../video-frames.ts';
import { SeekChecker } from './check-seeks.ts';
import type { Ffmpeg } from './ffmpeg.ts';
import { ListingBytes } from './listing-bytes.ts';
import { PacketReader } from './open-video.ts';
import type { VideoBytes } from './video-bytes.ts';

/**
 * Packets that are read before a container's tables are believed, which have to tell the same of them: what a file's tables call key
 * frames need not be what its stream begins anew with. It is what FFmpeg reads of 1080p to tell what a stream is, 5 MB.
 */
const proven = 256;

/**
 * The packets of a video in the order of the file. Of an MP4 they are taken from its tables where those are right: an hour of 1080p in
 * 0.7 s instead of 6 (measured), and of one on a server the beginning is fetched, and the heads of key frames. To be closed.
 */
export class PacketList {
  readonly #ffmpeg: Ffmpeg;
  readonly #bytes: VideoBytes;
  #reader: PacketReader;
  #checker: SeekChecker;
  #hasTables = false;
  /** What was read so far, until it is known whether the tables are right. */
  #first: VideoPacket[] | undefined = [];
  #count = 0;
  #lastDts: number | null = Number.NEGATIVE_INFINITY;
  #isRising = true;

  /** Throws InputError for what is no video that can be decoded. */
  constructor(ffmpeg: Ffmpeg, bytes: VideoBytes) {
    this.#ffmpeg = ffmpeg;
    this.#bytes = bytes;
    this.#reader = new PacketReader(ffmpeg, bytes);
    this.#checker = new SeekChecker(() => new PacketReader(ffmpeg, bytes));
  }

  /** What the last packet was read by. */
  get reader(): PacketReader {
    return this.#reader;
  }

  get checker(): SeekChecker {
    return this.#checker;
  }

  /**
   * Whether seeking leads to every packet so far and on to those behind it: the same tables give both, in which no time comes twice. A
   * packet is known by its place as well, so that nobody takes another for it.
   */
  get isSought(): boolean {
    return this.#hasTables && this.#isRising;
  }

  /** The next packet, or undefined behind the last. Throws InputError for bytes that cannot be read. */
  read(): VideoPacket | undefined {
    if (this.#first?.length === proven) this.#useTables(this.#first);
    const listed = this.#reader.read();
    const packet = this.#reader.isInDoubt ? this.#readThrough() : listed;
    if (!packet) return undefined;
    this.#count++;
    this.#first?.push(packet);
    this.#isRising &&= packet.dts !== null && packet.dts > (this.#lastDts ?? packet.dts);
    this.#lastDts = packet.dts;
    return packet;
  }

  close(): void {
    this.#reader.close();
    this.#checker.close();
  }

  /** Up to the packet that comes next. */
  #readThrough(): VideoPacket | undefined {
    this.close();
    const open = () => new PacketReader(this.#ffmpeg, this.#bytes);
    this.#hasTables = false;
    this.#reader = open();
    this.#checker = new SeekChecker(open);
    for (let passed = 0; passed < this.#count && this.#reader.read(); passed++);
    return this.#reader.read();
  }

  #useTables(known: readonly VideoPacket[]): void {
    this.#first = undefined;
    if (!this.#reader.isInTables) return;
    const listed = new ListingBytes(this.#bytes);
    const open = () => new PacketReader(this.#ffmpeg, this.#bytes, listed);
    const reader = open();
    if (!known.every((packet) => isDeepStrictEqual(reader.read(), packet))) {
      reader.close();
      return;
    }
    this.close();
    this.#hasTables = true;
    this.#reader = reader;
    this.#checker = new SeekChecker(open);
  }
}
