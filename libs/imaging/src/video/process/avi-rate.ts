import type { VideoBytes } from './video-bytes.ts';

/** Bytes that are read: the main header comes first in the file, and a stream's header within hundreds of bytes. */
const headerBytes = 4096;

/**
 * Whether a file is an AVI that states no rate, neither in frames a second (`strh`) nor as the time of a frame
 * (`avih`). FFmpeg then assumes 25, which cannot be told from a stated rate of 25.
 */
export function lacksRate({ read }: Pick<VideoBytes, 'read'>): boolean {
  const header = read(0, headerBytes);
  if (!/^RIFF[\s\S]{4}AVI $/.test(header.toString('latin1', 0, 12))) return false;
  const main = header.indexOf('avih');
  const stream = header.indexOf('vids');
  // The first number of the main header; the sixth and the seventh of the stream's.
  const numbers = [main + 8, stream + 20, stream + 24];
  if (main < 0 || stream < 0 || numbers.some((at) => at + 4 > header.length)) return false;
  const [frameUs, scale, rate] = numbers.map((at) => header.readUInt32LE(at));
  return frameUs === 0 && (scale === 0 || rate === 0);
}
