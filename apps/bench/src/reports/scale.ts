import type { ListStrategies } from './strategies.ts';

/** How much of a report is measured. */
export interface Scale {
  /** Sizes that a software GPU computes within seconds. */
  isQuick: boolean;
  strategies: ListStrategies;
}

export const square = (side: number) => ({ width: side, height: side });
export const sizeName = ({ width, height }: { width: number; height: number }): string => `${width}x${height}`;
