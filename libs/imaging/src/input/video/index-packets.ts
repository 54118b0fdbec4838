import { InputError } from '../input-error.ts';
import type { PixelType } from '../pixel-type.ts';
import type { Ffmpeg, Rational } from './ffmpeg.ts';
import { PacketReader } from './open-video.ts';
import type { VideoBytes } from './video-bytes.ts';
import type { VideoPacket } from './video-frames.ts';

/** What listing a video's packets gives: first what it is, last how it ended. */
export type IndexLine =
  | { kind: 'video'; width: number; height: number; pixel: PixelType; timeBase: Rational }
  | { kind: 'packets'; packets: VideoPacket[] }
  | {
      kind: 'end' /** Frames that the file should hold behind those listed, and why it does not. */;
      missing: number;
      why: string;
    };

const packetsALine = 256;

/** Lists the packets of a video, none of which is decoded. Throws InputError. */
export function* indexPackets(ffmpeg: Ffmpeg, bytes: VideoBytes): Generator<IndexLine> {
  const reader = new PacketReader(ffmpeg, bytes);
  try {
    const { codecpar, timeBase } = reader.stream;
    yield { kind: 'video', width: codecpar.width, height: codecpar.height, pixel: reader.pixel, timeBase };
    let count = 0;
    let packets: VideoPacket[] = [];
    for (let packet = reader.read(); packet; packet = reader.read()) {
      count++;
      packets.push(packet);
      if (packets.length < packetsALine) continue;
      yield { kind: 'packets', packets };
      packets = [];
    }
    if (packets.length > 0) yield { kind: 'packets', packets };
    if (count === 0 && !reader.failure) throw new InputError('decode', 'The video has no frames');
    yield { kind: 'end', ...missingFrames(reader) };
  } finally {
    reader.close();
  }
}

function missingFrames({ failure, lostFrames }: PacketReader): { missing: number; why: string } {
  if (failure) return { missing: Math.max(1, lostFrames), why: `The file cannot be read up to this frame: ${failure}` };
  return { missing: lostFrames, why: 'The file ends before this frame' };
}
