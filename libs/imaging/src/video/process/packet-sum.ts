import { crc32 } from 'node:zlib';
import type { PacketReader } from './open-video.ts';

/**
 * Adds the packet that a reader has read last to the sum of those of its group, of which the first was shown at `startPts`: its
 * place, what it is marked as, and when it is shown after the first. What containers count otherwise after a seek is left out. Bytes
 * count where packets are put together of parts; elsewhere they are those at the place.
 */
export function addToSum(sum: number, { last, current, isInParts }: PacketReader, startPts: number | null): number {
  const { size, position, pts } = last!;
  const time = pts === null ? 'none' : pts - (startPts ?? 0);
  const facts = crc32(`${size} ${position} ${current.flags} ${time}`, sum);
  return isInParts && current.data ? crc32(current.data, facts) : facts;
}
