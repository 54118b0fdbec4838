import type { Grid } from '@halogrid/kernels';
import type { JobSpec } from '@halogrid/proto';

/** The grid that a job lays over its images; one cell where it asks for none. */
export function jobGrid({ grid }: Pick<JobSpec, 'grid'>): Grid {
  return { rows: grid?.rows || 1, columns: grid?.columns || 1 };
}
