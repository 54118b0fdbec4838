import type { Rational } from './process/ffmpeg.ts';
import type { VideoFrame } from './video-frames.ts';

/** Which frames of a video are wanted; a field that is left out limits nothing. */
export interface FrameChoice {
  /** Only frames whose number is a multiple of this. */
  every?: number;
  /** Only frames from `fromMs` on and before `toMs`, in milliseconds from the first frame. */
  fromMs?: number;
  toMs?: number;
  /** Frames a second, as a fraction: the first frame at or after each multiple of its inverse; none twice. */
  fps?: Rational;
}

/** Whether a choice goes by time. */
export function needsTimes({ fromMs, toMs, fps }: FrameChoice): boolean {
  return fromMs !== undefined || toMs !== undefined || fps !== undefined;
}

/**
 * Makes the test of a choice for a stream's time base. Call it once for each frame, in order. It computes with integers
 * only, so that no rounding decides. Frames without a time pass tests of time: see needsTimes.
 */
export function frameTest(choice: FrameChoice, timeBase: Rational): (frame: VideoFrame) => boolean {
  const { every = 1, fromMs, toMs, fps } = choice;
  const [num, den] = [BigInt(timeBase.num), BigInt(timeBase.den)];
  const isBefore = (ticks: number, ms: number) => BigInt(ticks) * num * 1000n < BigInt(ms) * den;
  /** Multiples of the step up to that time, without the one at 0. */
  const stepsUntil = (ticks: number, { num: frames, den: seconds }: Rational): bigint => {
    return (BigInt(ticks) * num * BigInt(frames)) / (den * BigInt(seconds));
  };
  let stepsSeen = -1n;
  return ({ frame, ticks }) => {
    if (ticks !== undefined && fps) {
      const steps = stepsUntil(ticks, fps);
      const isFirst = steps > stepsSeen;
      if (isFirst) stepsSeen = steps;
      if (!isFirst) return false;
    }
    if (frame % every !== 0) return false;
    if (ticks === undefined) return true;
    return !(fromMs !== undefined && isBefore(ticks, fromMs)) && (toMs === undefined || isBefore(ticks, toMs));
  };
}

/** Milliseconds of a time in units of a time base. */
export const ticksToMs = (ticks: number, { num, den }: Rational): number => (ticks * num * 1000) / den;
