import { summitFigures } from '../../scan/gpu/nearness-shader.ts';
import type { GpuEstimates } from './estimates.ts';
import type { GpuClock } from './gpu-clock.ts';
import type { BundlePick, GpuPasses, ScanTarget, SummitPick } from './gpu-passes.ts';

/**
 * Bundles that may have one of the `top` best vectors of a query, and for each query the least figure of such vectors.
 */
export interface NearBundles {
  picks: BundlePick[];
  least: number[];
}

/** Estimates all vectors, and gives the bundles that their estimates do not rule out. */
export async function nearBundles(
  passes: GpuPasses,
  sight: ScanTarget,
  estimates: GpuEstimates,
  top: number,
  clock: GpuClock,
): Promise<NearBundles> {
  const { columns } = sight.wanted;
  if (columns) return await belowSummits(passes, sight, estimates, top, await passes.summits(sight, columns, clock));
  const figures = await passes.bestOfBundles(sight, clock);
  const near: NearBundles = { picks: [], least: [] };
  for (let query = 0; query < sight.queries; query++) {
    const { least, found } = estimates.nearest(partOf(figures, query, sight.queries), top);
    near.least.push(least);
    for (const i of found) near.picks.push({ query, ...passes.bundleAt(i, sight.cells) });
  }
  return near;
}

/**
 * Summits are figures as well. A summit that `top` others rule out is further than those, and so are all figures below
 * it.
 */
async function belowSummits(
  passes: GpuPasses,
  sight: ScanTarget,
  estimates: GpuEstimates,
  top: number,
  summits: Float32Array,
): Promise<NearBundles> {
  const high: SummitPick[] = [];
  const counts: number[] = [];
  for (let query = 0; query < sight.queries; query++) {
    const { found } = estimates.nearest(partOf(summits, query, sight.queries), top);
    counts.push(found.length);
    for (const summit of found) high.push({ query, summit });
  }
  const near: NearBundles = { picks: [], least: [] };
  const figures = high.length > 0 ? await passes.figuresBelow(sight, high) : new Float32Array();
  let first = 0;
  for (const [query, count] of counts.entries()) {
    const own = figures.subarray(first * summitFigures, (first + count) * summitFigures);
    const { least, found } = estimates.nearest(own, top);
    near.least.push(least);
    for (const i of found) {
      const { summit } = high[first + Math.floor(i / summitFigures)]!;
      const at = summit * summitFigures + (i % summitFigures);
      near.picks.push({ query, ...passes.bundleAt(at, sight.cells) });
    }
    first += count;
  }
  return near;
}

const partOf = (figures: Float32Array, query: number, queries: number): Float32Array =>
  figures.subarray((query * figures.length) / queries, ((query + 1) * figures.length) / queries);
