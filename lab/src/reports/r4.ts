import { bySize, inBlocks } from './r4-memory.ts';
import { byContent, byOrder, contentCall, orderCalls } from './r4-others.ts';
import { byRegisters, registerCalls } from './r4-registers.ts';
import { divided, inStreams } from './r4-transfers.ts';
import type { Report } from './report.ts';
import type { ReportScale } from './scale.ts';

/** R4: Local Derivative Patterns and their histograms, by order and size; work split between CPU and GPU. */
export function r4({ isQuick, strategies }: ReportScale): Report {
  const sides = isQuick ? [64, 128] : [256, 512, 1024, 2048, 4096];
  // For the smallest size the report has its loop alone.
  const imageSides = isQuick ? sides : [88, ...sides];
  const oneSide = isQuick ? 128 : 1024;
  const orders = isQuick ? [2, 3] : [2, 3, 4, 5, 6];
  const registerSides = isQuick ? [128] : [256, 1024];
  return {
    id: 'r4',
    title: 'R4 · Local Derivative Pattern on GPUs',
    // The report does not say how often. This is the default of the CUDA programs.
    method: { repetitions: 30, images: 1 },
    tables: [
      bySize(imageSides),
      inBlocks(sides),
      inStreams(sides),
      byRegisters(registerSides, strategies),
      byOrder(orders, oneSide),
      divided(sides),
      byContent(oneSide),
    ],
    cuda: [
      {
        program: 'ldp',
        arguments: { sizes: imageSides.join(), order: 3, measure: 'kernel', 'cpu-repetitions': 3 },
      },
      {
        program: 'ldp',
        arguments: { sizes: sides.join(), order: 3, measure: 'whole,streams', strategies: 'shared,global' },
      },
      ...registerCalls(registerSides),
      contentCall(oneSide),
      ...orderCalls(orders, oneSide),
    ],
  };
}
