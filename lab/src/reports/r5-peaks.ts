import { type Derived, speedUp } from './report.ts';

/** Table 5: global and shared memory in blocks of 16x16, and the best of all, here and in CUDA. */
export const peaks: Derived[] = [
  peak('halogrid_global', 'kernel', (strategy, block) => strategy.includes('global') && block === '16x16'),
  peak('halogrid_shared', 'kernel', (strategy, block) => strategy.includes('workgroup') && block === '16x16'),
  peak('halogrid_tuned', 'kernel', (strategy) => strategy.startsWith('halogrid')),
  peak('cuda_global', 'cuda', (strategy, block) => strategy === 'CUDA global' && block === '16x16'),
  peak('cuda_shared', 'cuda', (strategy, block) => strategy === 'CUDA shared' && block === '16x16'),
  peak('cuda_tuned', 'cuda', (strategy) => strategy.startsWith('CUDA')),
];

/** The speed-up in rows that `counts` accepts; other rows have none. */
function peak(name: string, column: string, counts: (strategy: string, block: string) => boolean): Derived {
  const over = speedUp(column, 'cpu');
  return {
    name: `${name}_x`,
    title: name.replace('cuda', 'CUDA').replace('_', '\n'),
    of: (medianMs, row) => {
      const { strategy, block } = row.labels;
      return counts(String(strategy), String(block)) ? over.of(medianMs, row) : undefined;
    },
  };
}
