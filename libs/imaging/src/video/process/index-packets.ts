import { InputError } from '@halogrid/sources/input-error';
import { mostHeldBack } from '../frame-turns.ts';
import type { VideoPacket } from '../video-frames.ts';
import { lacksRate } from './avi-rate.ts';
import { addToSum, type ReadGroup } from './check-seeks.ts';
import type { Ffmpeg } from './ffmpeg.ts';
import type { IndexLine } from './index-line.ts';
import type { PacketReader } from './open-video.ts';
import { PacketList } from './packet-list.ts';
import type { VideoBytes } from './video-bytes.ts';

const packetsALine = 256;

const packed =
  'MPEG-4 video with two frames in a packet is not supported: ffmpeg -i IN.avi -c copy -bsf:v mpeg4_unpack_bframes OUT.avi parts them';

/** Lists the packets of a video without decoding them. Throws InputError. */
export function* indexPackets(ffmpeg: Ffmpeg, bytes: VideoBytes): Generator<IndexLine> {
  const list = new PacketList(ffmpeg, bytes);
  try {
    const { codec, stream, pixel } = list.reader;
    const { codecpar } = stream;
    const { width, height, videoDelay } = codecpar;
    const timeBase = lacksRate(bytes) ? null : stream.timeBase;
    const delay = Math.max(0, Math.min(mostHeldBack, videoDelay));
    yield { kind: 'video', width, height, pixel, timeBase, delay };
    let count = 0;
    let packets: VideoPacket[] = [];
    let group: (ReadGroup & { isSought: boolean }) | undefined;
    for (;;) {
      const packet = list.read();
      const isEnd = group && (!packet || packet.isKey);
      if (isEnd && !(group!.isSought ? list.isSought : list.isReached({ ...group!, next: packet }))) {
        if (packets.length > 0) yield { kind: 'packets', packets };
        packets = [];
        yield { kind: 'unreached', packet: group!.first.packet };
      }
      if (!packet) break;
      if (codec.name === 'mpeg4' && isPacked(list.reader.current.data)) throw new InputError('decode', packed);
      if (packet.isKey || !group) {
        group = { first: packet, packets: 0, sum: 0, next: undefined, isSought: list.isSought };
      }
      group.packets++;
      if (!group.isSought) group.sum = addToSum(group.sum, list.reader, group.first.pts);
      count++;
      packets.push(packet);
      if (packets.length < packetsALine) continue;
      yield { kind: 'packets', packets };
      packets = [];
    }
    if (packets.length > 0) yield { kind: 'packets', packets };
    if (count === 0 && !list.reader.failure) throw new InputError('decode', 'The video has no frames');
    yield { kind: 'end', ...missingFrames(list.reader) };
  } finally {
    list.close();
  }
}

function missingFrames({ failure, lostFrames }: PacketReader): { missing: number; why: string } {
  if (failure) return { missing: Math.max(1, lostFrames), why: `The file cannot be read up to this frame: ${failure}` };
  return { missing: lostFrames, why: 'The file ends before this frame' };
}

const pictureCode = Buffer.from([0, 0, 1, 0xb6]);

/**
 * Whether a packet of MPEG-4 holds two pictures, as old encoders wrote B-frames into AVI. Then packets do not tell
 * which frame belongs to which packet.
 */
export function isPacked(packet: Buffer | null): boolean {
  const first = packet?.indexOf(pictureCode) ?? -1;
  return first >= 0 && packet!.indexOf(pictureCode, first + pictureCode.length) >= 0;
}
