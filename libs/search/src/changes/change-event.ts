import type { ViewChange } from './change-kind.ts';

/** A frame of a camera; `time` counts milliseconds or frames. */
export interface Moment {
  readonly uri: string;
  readonly frame: number;
  readonly isVideo: boolean;
  readonly time: number;
}

/** What has changed: the view as a whole, some neighbouring cells for long, or some cells for a while. */
export type ChangeKind = ViewChange | 'view' | 'left' | 'passing';

export const changeKinds = ['covered', 'blurred', 'turned', 'view', 'left', 'passing'] as const satisfies ChangeKind[];

export interface ChangeEvent {
  kind: ChangeKind;
  /** The first frame that shows it. */
  start: Moment;
  /** The last frame that shows it, or the camera's last. */
  end: Moment;
  /** The largest distance of a cell from how it looked before, 0 to 1. */
  strength: number;
  /** Numbers of cells, row by row, ascending. */
  cells: number[];
  /** A frame without the change, and a frame that shows it. */
  before: Moment;
  after: Moment;
}
