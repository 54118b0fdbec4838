import type { VideoPacket } from './video-frames.ts';

/** The most frames that a decoder may hold back: H.264 and H.265 allow for 16. */
export const mostHeldBack = 16;

/**
 * Gives each packet a turn: the time of the frame that is shown in its place. A decoder holds `delay` frames back to
 * put them in order, so this is the time at which it takes the packet `delay` places later in the file. AVI states no
 * times but counts packets at a constant rate; turns give its frames times, also if frames were left out. Behind the
 * last packet, turns go on by the smallest step so far. Null if a packet has no time of decoding.
 */
export async function* withTurns(packets: AsyncIterable<VideoPacket>, delay: number): AsyncGenerator<VideoPacket> {
  const waiting: VideoPacket[] = [];
  let last: number | null = null;
  let step = Number.POSITIVE_INFINITY;
  for await (const packet of packets) {
    const { dts } = packet;
    if (dts !== null && last !== null && dts > last) step = Math.min(step, dts - last);
    last = dts ?? last;
    waiting.push(packet);
    if (waiting.length > delay) yield { ...waiting.shift()!, turn: dts };
  }
  for (const [i, packet] of waiting.entries()) {
    const turn = last === null ? null : last + (Number.isFinite(step) ? step * (i + 1) : i);
    yield { ...packet, turn };
  }
}
