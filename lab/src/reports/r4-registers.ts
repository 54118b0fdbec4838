import { laneShape } from '@halogrid/bench/strategy-shapes';
import { cuda, ldpOfOrder, ldpWork } from './r4-work.ts';
import type { ReportCall, ReportRow, ReportTable } from './report.ts';
import type { ListStrategies } from './scale.ts';

/** 64 to 1,024 threads. The report's best register counts are 23 and 32; its compiler chose 42. */
const blocks = ['8x8', '16x8', '16x12', '16x16', '32x16', '32x24', '32x32'];
const limits = [undefined, 16, 23, 32, 42, 64];

/** Threads of a block and registers of a thread: figure 6. */
export function byRegisters(sides: readonly number[], strategies: ListStrategies): ReportTable {
  return {
    name: 'registers',
    title: 'Figure 6 · threads of a block and registers of a thread, CUDA, shared memory',
    note: 'Registers are what the compiler may use, and what it used; occupancy is the part of a multiprocessor’s threads. WebGPU has no such limit: halogrid has its shapes of a workgroup beside them.',
    rows: sides.flatMap((side): ReportRow[] => [
      ...strategies(ldpOfOrder(3), 'histogram').map((strategy, i) => ({
        labels: { side, registers: `halogrid ${strategy.name}`, block: laneShape(strategy) },
        // The first is the default. Other tables measure it without a strategy, under the same key.
        times: { kernel: { ...ldpWork('kernel', side), strategy: i > 0 ? strategy : undefined } },
      })),
      ...limits.flatMap((maxRegisters) =>
        blocks.map((block) => ({
          labels: { side, registers: maxRegisters ?? 'no limit', block },
          times: {},
          cuda: { ...cuda('shared', side, 3, 'blocks'), block, ...(maxRegisters && { maxRegisters }) },
        })),
      ),
    ]),
    derived: [],
    cudaFields: ['registers', 'occupancy'],
    charts: sides.map((side) => ({
      kind: 'heat',
      name: `registers-${side}`,
      title: `LDP of ${side}x${side}, ms, by registers and block (figure 6)`,
      x: 'block',
      xTitle: 'Block (workgroup), lanes',
      y: ['registers'],
      values: ['kernel_median_ms', 'cuda_median_ms'],
      only: { side },
    })),
  };
}

export const registerCalls = (sides: readonly number[]): ReportCall[] =>
  limits.map((maxRegisters) => ({
    table: 'registers',
    program: 'ldp',
    arguments: {
      sizes: sides.join(),
      blocks: blocks.join(),
      order: 3,
      measure: 'kernel',
      strategies: 'shared',
      histograms: 'blocks',
    },
    maxRegisters,
  }));
