import { firstOfEachName } from '@halogrid/bench/strategy-shapes';
import { type AskedOperation, createPipeline } from '@halogrid/kernels';
import { type GpuOutput, inShapes, type Strategy, strategiesOf } from '@halogrid/kernels/gpu';

export type { Strategy };

/** The strategies of a kernel that a report compares, the default first. */
export type ListStrategies = (operation: AskedOperation, output: GpuOutput) => readonly Strategy[];

/** Workgroups that a device need not have: more than 256 lanes. */
const largeShapes = ['32x16', '16x32', '32x32'];
/** Strategies with a pixel or a word a lane, like the programs of the reports. They run in workgroups of any shape. */
const anyShape = new Set(['word', 'workgroup', 'global']);

/**
 * Every strategy, also in large workgroups if the device has them. `maxLanes` is its maxComputeInvocationsPerWorkgroup.
 */
export const everyStrategy =
  (maxLanes: number): ListStrategies =>
  (operation, output) => {
    const strategies = listed(operation, output);
    const large = firstOfEachName(strategies)
      .filter(({ name }) => anyShape.has(name))
      .flatMap(({ name, isExact }) => inShapes(name, largeShapes, isExact))
      .filter(({ lanes }) => lanes.width * lanes.height <= maxLanes);
    return [...strategies, ...large];
  };

/**
 * Every strategy of LBP maps in two shapes of a workgroup, which compile within a second. Other kernels and outputs
 * take longer, and have their default only.
 */
export const fewStrategies: ListStrategies = (operation, output) => {
  const all = listed(operation, output);
  if (operation.kernel !== 'lbp' || output !== 'map') return all.slice(0, 1);
  return [...Map.groupBy(all, ({ name }) => name).values()].flatMap((shapes) => shapes.slice(0, 2));
};

const listed: ListStrategies = (operation, output) => strategiesOf(createPipeline([operation]).operations[0]!, output);

/** The name of a strategy. Results of some are only near the exact ones. */
export const strategyName = ({ name, isExact }: Strategy): string => (isExact ? name : `${name} (not exact)`);

/** The part of a report that is measured. */
export interface ReportScale {
  /** Sizes that a software GPU computes within seconds. */
  isQuick: boolean;
  strategies: ListStrategies;
}

export const squareSize = (side: number) => ({ width: side, height: side });
export const sizeName = ({ width, height }: { width: number; height: number }): string => `${width}x${height}`;
