import type { DistanceName } from '../../distances/distance-names.ts';
import type { Vector } from '../../distances/vector.ts';
import { estimators } from '../estimators.ts';
import type { GpuProgramName } from './nearness-shader.ts';

/** Sums of whole numbers below this are exact: float32 has all of them. */
const exactSums = 2 ** 24;

/**
 * The program that estimates for all of the queries. It uses whole numbers if the common part with every vector is a
 * sum of counts. `mass`: the mass of all vectors with counts, undefined if they differ.
 */
export function gpuProgram(name: DistanceName, queries: readonly Vector[], mass: number | undefined): GpuProgramName {
  const { program } = estimators[name];
  const isShared = mass !== undefined && mass < exactSums && queries.every((query) => query.mass === mass);
  return program === 'absolute' && isShared ? 'shared' : program;
}
