import { distances } from '../../distances/distance.ts';
import type { DistanceName } from '../../distances/distance-names.ts';
import type { Vector } from '../../distances/vector.ts';
import { Best } from '../../ranking/best.ts';
import { compareHits, type Hit } from '../../ranking/hit.ts';
import { estimators } from '../../scan/estimators.ts';
import type { GpuProgramName } from '../../scan/gpu/nearness-shader.ts';
import { cellsOfGrid } from '../../store/pipeline-identity.ts';
import { lengthOf } from '../../store/read-block.ts';
import type { Wanted } from '../index-scan.ts';
import { atLeast, GpuEstimates } from './estimates.ts';
import type { BundlePick, ScanTarget } from './gpu-passes.ts';
import { gpuQueries } from './gpu-query.ts';
import { nearBundles } from './near-bundles.ts';
import { bundleRows } from './plan-shelves.ts';
import { type ShelvedIndex, scoreAll, type VectorCandidate, vectorPlace } from './score-candidates.ts';

/** Fewer queries are looked for one by one: four take a device less time than 64 at once. */
const worthMany = 5;
/** Bundles whose estimates are read back at once: a million estimates. */
const mostPicks = 4096;
/** Sums of whole numbers below this are exact: float32 has all of them. */
const exactSums = 2 ** 24;

/**
 * The best hits of each query on the shelves, in order; `mass`: the mass of all vectors, undefined if they differ.
 * There may be at most as many queries as `best_of_many` looks for at once.
 *
 *   nearest figure of each bundle (for many queries, first the best of several bundles) ─►
 *   bundles that may have one of the best ─► figures of all their vectors ─►
 *   vectors that may be among the best ─► their counts ─► scores by the definition
 *
 * Figures that are whole numbers give the score of the definition themselves.
 */
export async function findOnShelves(index: ShelvedIndex, wanted: Wanted, mass: number | undefined): Promise<Hit[][]> {
  const { catalog, passes, clock } = index;
  const { queries, distance, top } = wanted;
  const sight = await sightOf(index, wanted, mass);
  const estimates = new GpuEstimates(sight.program, sight.length, mass);
  const { picks, least } = await nearBundles(passes, sight, estimates, top, clock);
  picks.sort((a, b) => a.shelf - b.shelf);
  const compare = compareHits(distances[distance].sense, catalog.placeOf);
  const bests = queries.map(() => new Best<Hit>(top, compare));
  /** A vector that is found rules out vectors that are further. */
  const ruleOut = (query: number, limit: number): void => {
    least[query] = Math.max(least[query]!, estimates.leastFigure(limit));
  };
  for (let i = 0; i < picks.length; i += mostPicks) {
    const candidates = await candidatesOf(index, sight, picks.slice(i, i + mostPicks), least);
    for (const [query, some] of Map.groupBy(candidates, (one) => one.query)) {
      const figures = some.map(({ figure }) => figure);
      ruleOut(query, estimates.limit(Float32Array.from(figures), top));
    }
    const isWorth = ({ query, figure }: VectorCandidate): boolean => figure >= least[query]!;
    // The nearest come first: their scores rule out others.
    const worth = candidates.filter(isWorth).sort((a, b) => b.figure - a.figure);
    const offer = (query: number, hit: Hit): void => {
      if (!bests[query]!.offer(hit)) return;
      const { worst } = bests[query]!;
      if (worst) ruleOut(query, estimators[distance].of(worst.score.value));
    };
    const { ofCommon } = distances[distance];
    if (sight.program === 'shared' && ofCommon) {
      // The figure is what the counts have in common, a whole number without an error.
      for (const one of worth) {
        const score = ofCommon({ numerator: one.figure, denominator: mass! });
        offer(one.query, { row: vectorPlace(index, one).row, cell: one.cell, score });
      }
    } else await scoreAll(index, sight, wanted, worth, isWorth, offer);
  }
  return bests.map((one) => one.sorted());
}

async function sightOf(
  { catalog, shelves, passes }: ShelvedIndex,
  { queries, distance, unit, filter }: Wanted,
  mass: number | undefined,
): Promise<ScanTarget> {
  const program = gpuProgram(distance, queries, mass);
  const { scale } = estimators[distance];
  const shape = {
    cells: unit === 'cell' ? cellsOfGrid(catalog.pipeline) : 1,
    length: lengthOf(catalog.pipeline, unit),
  };
  return {
    program,
    wanted: gpuQueries(distance, program, queries, queries.length >= worthMany),
    queries: queries.length,
    ...shape,
    scales: scale ? shelves.map((shelf) => shelf.scales(unit, distance, scale)) : await passes.inverseNorms(shape),
    asked: shelves.map((shelf) => shelf.asked(filter)),
  };
}

/**
 * The program that estimates for all of the queries. It uses whole numbers if the common part with every vector is a
 * sum of counts. `mass`: the mass of all vectors with counts, undefined if they differ.
 */
function gpuProgram(name: DistanceName, queries: readonly Vector[], mass: number | undefined): GpuProgramName {
  const { program } = estimators[name];
  const isShared = mass !== undefined && mass < exactSums && queries.every((query) => query.mass === mass);
  return program === 'absolute' && isShared ? 'shared' : program;
}

/** The vectors of bundles that may be among the best of their query. */
async function candidatesOf(
  { passes }: ShelvedIndex,
  sight: ScanTarget,
  picks: readonly BundlePick[],
  least: readonly number[],
): Promise<VectorCandidate[]> {
  const figures = await passes.nearOfPicks(sight, picks);
  const candidates: VectorCandidate[] = [];
  for (const [i, { shelf, query, bundle, cell }] of picks.entries()) {
    const ofBundle = figures.subarray(i * bundleRows, (i + 1) * bundleRows);
    for (const lane of atLeast(ofBundle, least[query]!))
      candidates.push({ shelf, query, row: bundle * bundleRows + lane, cell, figure: ofBundle[lane]! });
  }
  return candidates;
}
