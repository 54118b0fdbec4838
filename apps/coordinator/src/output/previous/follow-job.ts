import { isDeepStrictEqual } from 'node:util';
import { jobGrid } from '@halogrid/jobs/accepted-job';
import type { Grid } from '@halogrid/kernels/grid';
import type { JobSpec, NamedPipeline } from '@halogrid/proto';
import { isSameJob, type JobClaim } from '../job-claim.ts';
import { type Difference, specDifferences } from '../spec-differences.ts';

/** How a job uses the complete job in its folder. */
export type Following = Follows | Refused;

export interface Follows {
  kind: 'follows';
  /** The job with the existing results, without what this one adds. */
  there: JobSpec;
  /**
   * What becomes of unchanged sources: their results are kept; or they are read again, and only new pipelines compute
   * them; or they are computed again.
   */
  how: 'kept' | 'read' | 'computed';
  /** Why they are not kept, in a sentence. */
  why?: string;
}

/** The job would take results away. */
export interface Refused {
  kind: 'refused';
  differences: Difference[];
}

/**
 * A job may follow a complete one if it has the same results, and perhaps more: maps if the earlier job had none, a
 * finer grid that divides each cell, further pipelines. Options that decide no count may differ: capture times, the cut
 * of sources, the priority, the order of pipelines.
 */
export function followJob(before: JobClaim, spec: JobSpec): Following {
  const then = before.specification;
  const there: JobSpec = {
    ...spec,
    captured: then.captured,
    tilePx: then.tilePx,
    batchFrames: then.batchFrames,
    priority: then.priority,
    ...(then.mapFormat === 'none' && { mapFormat: then.mapFormat }),
    ...(divides(jobGrid(spec), jobGrid(then)) && { grid: then.grid }),
    ...(hasAll(namedOf(spec), namedOf(then)) && { pipelines: then.pipelines }),
  };
  if (!isSameJob(before, there)) return { kind: 'refused', differences: specDifferences(then, there) };
  const added = namedOf(spec).filter(({ name }) => !namedOf(then).some((one) => one.name === name));
  const noPipeline = added.length === 0 ? [] : [`no pipeline ${added.map(({ name }) => `'${name}'`).join(', ')}`];
  const lacks = [...lacksOf(then, spec), ...noPipeline];
  if (lacks.length === 0) return { kind: 'follows', there, how: 'kept' };
  const have = `The results of job ${before.id} in the folder have ${lacks.join(' and ')}`;
  // Nodes write maps of all pipelines of a source, or of none.
  if (lacks.length > noPipeline.length || spec.mapFormat !== 'none') {
    return { kind: 'follows', there, how: 'computed', why: `${have}: every source is computed again` };
  }
  const which = added.length === 1 ? 'pipeline is' : 'pipelines are';
  const why = `${have}: every source is read again, but only the added ${which} computed`;
  return { kind: 'follows', there, how: 'read', why };
}

/** Results that the earlier job lacks, and for which the pixels of each source are needed. */
function lacksOf(then: JobSpec, spec: JobSpec): string[] {
  const [grid, now] = [jobGrid(then), jobGrid(spec)];
  return [
    ...(then.mapFormat === spec.mapFormat ? [] : ['no maps']),
    ...(isDeepStrictEqual(grid, now) ? [] : [`a grid of ${grid.rows}x${grid.columns}`]),
    // The earlier output has times of change instead of the times that files state.
    ...(isMtime(then) && !isMtime(spec) ? ['times of change in place of the times that files state'] : []),
  ];
}

const isMtime = ({ captured }: JobSpec): boolean => captured?.from === 'mtime';

const namedOf = ({ pipelines }: JobSpec): readonly NamedPipeline[] => pipelines?.named ?? [];

/** Whether each cell of `grid` lies in one cell of the other, in images of any size. */
const divides = (grid: Grid, other: Grid): boolean =>
  grid.rows % other.rows === 0 && grid.columns % other.columns === 0;

/** Whether there are earlier pipelines, and each is still among the pipelines under its name, and computes the same. */
function hasAll(pipelines: readonly NamedPipeline[], others: readonly NamedPipeline[]): boolean {
  const plain = (pipeline: NamedPipeline['pipeline']): unknown => JSON.parse(JSON.stringify(pipeline ?? null));
  const has = (other: NamedPipeline): boolean => {
    const own = pipelines.find(({ name }) => name === other.name);
    return own !== undefined && isDeepStrictEqual(plain(own.pipeline), plain(other.pipeline));
  };
  return others.length > 0 && others.every(has);
}
