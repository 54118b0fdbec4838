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
 * 0.8 s instead of 6 (measured), and of one on a server the beginning is fetched, and the heads of key frames. To be closed.
 */
export class PacketList {
  readonly #ffmpeg: Ffmpeg;
  readonly #bytes: VideoBytes;
  #reader: PacketReader;
  #checker: SeekChecker | undefined;
  #hasTables = false;
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

  /** Tells where seeking leads, while `isSought` does not. */
  get checker(): SeekChecker {
    this.#checker ??= new SeekChecker(() => new PacketReader(this.#ffmpeg, this.#bytes));
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
    if (this.#count === 0 && this.#reader.isInTables) this.#compareTables();
    const packet = this.#compared.shift() ?? this.#readNext();
    if (!packet) return undefined;
    this.#count++;
    this.#isRising &&= !this.#last || isLater(packet, this.#last);
    this.#last = packet;
    return packet;
  }

  #readNext(): VideoPacket | undefined {
    const packet = this.#reader.read();
    return this.#reader.isInDoubt ? this.#readThrough() : packet;
  }

  close(): void {
    this.#reader.close();
    this.#checker?.close();
  }

  /** Goes on with the tables where they tell the same of the first packets, and else as if nothing had been read. */
  #compareTables(): void {
    const tables = new PacketReader(this.#ffmpeg, this.#bytes, new ListingBytes(this.#bytes));
    let isSame = true;
    while (isSame && this.#compared.length < proven) {
      const read = this.#reader.read();
      const before = this.#compared.at(-1);
      isSame =
        isDeepStrictEqual(tables.read(), read) && !tables.isInDoubt && (!read || !before || isLater(read, before));
      if (!read) break;
      this.#compared.push(read);
    }
    this.#hasTables = isSame;
    this.#reader.close();
    if (isSame) {
      this.#reader = tables;
    } else {
      tables.close();
      this.#compared = [];
      this.#reader = new PacketReader(this.#ffmpeg, this.#bytes);
    }
  }

  /** Up to the packet that comes next. */
  #readThrough(): VideoPacket | undefined {
    this.close();
    this.#checker = undefined;
    this.#hasTables = false;
    this.#reader = new PacketReader(this.#ffmpeg, this.#bytes);
    for (let passed = 0; passed < this.#count && this.#reader.read(); passed++);
    return this.#reader.read();
  }
}

const isLater = ({ dts }: VideoPacket, before: VideoPacket): boolean =>
  dts !== null && before.dts !== null && dts > before.dts;
