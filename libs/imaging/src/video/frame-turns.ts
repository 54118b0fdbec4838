import type { VideoPacket } from './video-frames.ts';

/** Frames that a decoder may hold back, at most: H.264 and H.265 allow for 16. */
export const mostHeldBack = 16;

/**
 * Gives each packet the turn that a frame has which takes its place among those that are shown: the time at which a
 * decoder takes the packet that is `delay` further in the file, because that is how many frames it holds back to put
 * them in order. So the frames of AVI have times, which states none but counts packets at a constant rate, and those
 * that are left out as well. Behind the last packet, turns go on by the smallest step that there was. Null where a
 * packet has no time of decoding.
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
