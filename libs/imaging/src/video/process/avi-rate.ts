import type { VideoBytes } from './video-bytes.ts';

/** The header is the first thing in the file; that of a stream comes within hundreds of bytes. */
const headerBytes = 4096;

/**
 * Whether a file is an AVI that states no rate, neither in frames a second (`strh`) nor as the time of a frame
 * (`avih`). FFmpeg then takes it to be 25, and nothing tells that from one that is so.
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
