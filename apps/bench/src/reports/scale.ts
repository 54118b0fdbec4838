import { type AskedOperation, createPipeline } from '@halogrid/kernels';
import { type GpuOutput, type Strategy, strategiesOf } from '@halogrid/kernels/gpu';

export type { Strategy };

/** The strategies of a kernel that a report compares, the default first. */
export type ListStrategies = (operation: AskedOperation, output: GpuOutput) => readonly Strategy[];

export const everyStrategy: ListStrategies = (operation, output) =>
  strategiesOf(createPipeline([operation]).operations[0]!, output);

export const defaultStrategy: ListStrategies = (operation, output) => everyStrategy(operation, output).slice(0, 1);

/** One strategy of each name, the first. */
export function firstOfEachName(strategies: readonly Strategy[]): Strategy[] {
  return strategies.filter(({ name }, i) => strategies.findIndex((other) => other.name === name) === i);
}

/** Its name; results of some are near those of the others only. */
export const strategyName = ({ name, isExact }: Strategy): string => (isExact ? name : `${name} (not exact)`);

/** As reports write the shape of a thread block. */
export const laneShape = ({ lanes }: Strategy): string => `${lanes.width}x${lanes.height}`;

/** How much of a report is measured. */
export interface Scale {
  /** Sizes that a software GPU computes within seconds. */
  isQuick: boolean;
  strategies: ListStrategies;
}

export const square = (side: number) => ({ width: side, height: side });
export const sizeName = ({ width, height }: { width: number; height: number }): string => `${width}x${height}`;
