import type { DistanceName } from '../../distances/distance-names.ts';
import type { Vector } from '../../distances/vector.ts';
import { estimators } from '../../scan/estimators.ts';
import { type GpuProgramName, manyChunk, manyQueries } from '../../scan/gpu/nearness-shader.ts';

/** Queries as `near` of one-query.wgsl reads them, one after another, or as `best_of_many` does, in columns. */
export interface GpuQueries {
  rows: Float32Array<ArrayBuffer>;
  /** For each count, the values of all queries, padded with queries and counts of 0. */
  columns?: Float32Array<ArrayBuffer>;
}

export function gpuQueries(
  name: DistanceName,
  program: GpuProgramName,
  queries: readonly Vector[],
  withColumns: boolean,
): GpuQueries {
  const length = queries[0]!.bins.length;
  const rows = new Float32Array(queries.length * length);
  for (const [i, query] of queries.entries()) rows.set(prepared(name, program, query), i * length);
  if (!withColumns) return { rows };
  const columns = new Float32Array(Math.ceil(length / manyChunk) * manyChunk * manyQueries);
  for (let i = 0; i < queries.length; i++) {
    for (let bin = 0; bin < length; bin++) columns[bin * manyQueries + i] = rows[i * length + bin]!;
  }
  return { rows, columns };
}

function prepared(name: DistanceName, program: GpuProgramName, { bins, mass }: Vector): ArrayLike<number> {
  if (program === 'shared') return bins;
  const shares = new Float64Array(bins);
  for (let i = 0; i < shares.length; i++) shares[i]! /= mass;
  return estimators[name].prepare(shares);
}
