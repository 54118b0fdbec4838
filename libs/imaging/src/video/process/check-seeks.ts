import { crc32 } from 'node:zlib';
import type { VideoPacket } from '../video-frames.ts';
import type { PacketReader } from './open-video.ts';

/** The packets from a key frame up to the next, as reading from the beginning gave them. */
export interface ReadGroup {
  first: VideoPacket;
  packets: number;
  sum: number;
  /** The packet behind them, if there is one. */
  next: VideoPacket | undefined;
}

/** The most groups that are not tried after one that seeking did not lead to. */
const mostPassed = 1023;

/**
 * Tells for groups, in the order of the file, whether seeking to one and reading on gives the same packets as reading
 * from the beginning. In a damaged file it may not; which frames are read would then depend on where segments begin.
 * The checker must be closed.
 */
export class SeekChecker {
  readonly #open: () => PacketReader;
  #reader: PacketReader | undefined;
  /**
   * Successive groups that seeking did not lead to. A search in vain takes long, so the more there are, the more groups
   * are not tried.
   */
  #inVain = 0;
  #toPass = 0;

  /** `open` opens the video again. */
  constructor(open: () => PacketReader) {
    this.#open = open;
  }

  /** Throws InputError for bytes that cannot be read. */
  isReached(group: ReadGroup): boolean {
    if (group.first.packet === 0) return true;
    if (this.#toPass > 0) {
      this.#toPass--;
      return false;
    }
    this.#reader ??= this.#open();
    const isReached = this.#reader.seekTo(group.first) && givesGroup(this.#reader, group);
    this.#inVain = isReached ? 0 : this.#inVain + 1;
    this.#toPass = isReached ? 0 : Math.min(mostPassed, 2 ** this.#inVain - 2);
    return isReached;
  }

  close(): void {
    this.#reader?.close();
  }
}

/** Whether a reader that has read the first packet of a group gives its others, and the same packet behind them. */
function givesGroup(reader: PacketReader, { packets, sum, next }: ReadGroup): boolean {
  const startPts = reader.last!.pts;
  let found = addToSum(0, reader, startPts);
  for (let i = 1; i < packets; i++) {
    if (!reader.read()) return false;
    found = addToSum(found, reader, startPts);
  }
  const behind = reader.read();
  return (
    found === sum && behind?.position === next?.position && behind?.size === next?.size && behind?.isKey === next?.isKey
  );
}

/**
 * Adds the reader's last packet to the checksum of its group: its size, place and flags, and its time after `startPts`,
 * the time of the group's first packet. Values that containers count differently after a seek are left out. The
 * packet's bytes count only if it was put together from parts; other packets are known by their places.
 */
export function addToSum(sum: number, { last, current, isInParts }: PacketReader, startPts: number | null): number {
  const { size, position, pts } = last!;
  const time = pts === null ? 'none' : pts - (startPts ?? 0);
  const facts = crc32(`${size} ${position} ${current.flags} ${time}`, sum);
  return isInParts && current.data ? crc32(current.data, facts) : facts;
}
