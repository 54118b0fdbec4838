import type { FrameOutcomes } from './frame-outcomes.ts';
import type { LeasedSource } from './unpack-lease.ts';

/** A frame that is to be computed. */
export interface AskedFrame {
  source: LeasedSource;
  /** Index of the source in the lease. */
  position: number;
}

/** A frame with facts about its file. */
export interface ListedFrame extends AskedFrame {
  /** Bytes, as it was listed. */
  fileBytes: number;
}

/** The frames without an outcome, which cores must compute. */
export const leftOf = <Frame extends AskedFrame>(frames: readonly Frame[], outcomes: FrameOutcomes): Frame[] =>
  frames.filter(({ position }) => !outcomes.has(position));
