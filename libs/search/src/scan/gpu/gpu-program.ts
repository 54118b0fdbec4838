import type { DistanceName } from '../../distances/distance-names.ts';
import type { Vector } from '../../distances/vector.ts';
import { estimators } from '../estimators.ts';
import type { GpuProgramName } from './nearness-shader.ts';

/** Sums of whole numbers are exact as long as they are below it: float32 has all of them up to here. */
const exactSums = 2 ** 24;

/**
 * The program that estimates for all of the queries: with whole numbers where what they have in common with every
 * vector is a sum of counts. `mass` is that of all vectors that count anything, undefined where they differ.
 */
export function gpuProgram(name: DistanceName, queries: readonly Vector[], mass: number | undefined): GpuProgramName {
  const { program } = estimators[name];
  const isShared = mass !== undefined && mass < exactSums && queries.every((query) => query.mass === mass);
  return program === 'absolute' && isShared ? 'shared' : program;
}
