import type { DistanceName } from '../../distances/distance-names.ts';
import type { Vector } from '../../distances/vector.ts';
import { exactSums } from '../../scan/gpu/gpu-bound.ts';
import { type GpuProgramName, manyChunk, manyQueries } from '../../scan/gpu/nearness-shader.ts';
import { nearnesses } from '../../scan/nearness.ts';

/**
 * The program that estimates for all of the queries: with whole numbers where what they have in common with every vector is a sum of
 * counts. `mass` is that of all vectors that count anything, undefined where they differ.
 */
export function gpuProgram(name: DistanceName, queries: readonly Vector[], mass: number | undefined): GpuProgramName {
  const { program } = nearnesses[name];
  const isShared = mass !== undefined && mass < exactSums && queries.every((query) => query.mass === mass);
  return program === 'intersect' && isShared ? 'shared' : program;
}

/** Queries as `near` of one-query.wgsl reads them: one after another. */
export function queriesInRows(
  name: DistanceName,
  program: GpuProgramName,
  queries: readonly Vector[],
): Float32Array<ArrayBuffer> {
  const length = queries[0]!.bins.length;
  const rows = new Float32Array(queries.length * length);
  for (const [i, query] of queries.entries()) rows.set(prepared(name, program, query), i * length);
  return rows;
}

/** Queries as `best_of_many` reads them: of each count those of all queries, with queries and counts of 0 behind. */
export function queriesInColumns(
  name: DistanceName,
  program: GpuProgramName,
  queries: readonly Vector[],
): Float32Array<ArrayBuffer> {
  const length = queries[0]!.bins.length;
  const columns = new Float32Array(Math.ceil(length / manyChunk) * manyChunk * manyQueries);
  for (const [i, query] of queries.entries()) {
    const counts = prepared(name, program, query);
    for (let bin = 0; bin < length; bin++) columns[bin * manyQueries + i] = counts[bin]!;
  }
  return columns;
}

function prepared(name: DistanceName, program: GpuProgramName, { bins, mass }: Vector): ArrayLike<number> {
  return program === 'shared' ? bins : nearnesses[name].prepare(Float64Array.from(bins, (count) => count / mass));
}
