import type { PlanTotals, PlanWork, SourceWork } from '@halogrid/coordinator/plan';

/** The counts of a job that has ended. */
export interface FinalCounts {
  sources: number;
  shards: number;
  pixels: number;
}

/**
 * The totals of a whole job from the totals of a part of its plan, as if the rest were like that part: a large archive
 * runs before all of it is planned. Undefined if the part is empty.
 */
export function scaleTotals(totals: PlanTotals, { sources, shards, pixels }: FinalCounts): PlanTotals | undefined {
  const { work, haloPixels, output } = totals;
  const planned = work.kernelPixels.u8 + work.kernelPixels.u16 - haloPixels;
  if (planned <= 0 || totals.shards === 0) return undefined;
  const by = pixels / planned;
  const ofShards = shards / totals.shards;
  const [tiles, segments] = [totals.tiles * ofShards, totals.segments * ofShards];
  const mapsBytes = (output.mapsBytes * pixels) / Math.max(totals.pixels, planned);
  return {
    ...totals,
    sources,
    shards,
    tiles,
    segments,
    pixels,
    output: { ...output, mapsBytes },
    work: scaleWork(work, by),
  };
}

function scaleWork(work: PlanWork, by: number): PlanWork {
  const kinds = Object.entries(work.kinds).map(([kind, { units, opens, pixels, bytes }]): [string, SourceWork] => [
    kind,
    { units: units * by, opens: opens * by, pixels: pixels * by, bytes: bytes * by },
  ]);
  const { u8, u16 } = work.kernelPixels;
  return {
    ...work,
    inputs: work.inputs * by,
    kinds: Object.fromEntries(kinds),
    kernelPixels: { u8: u8 * by, u16: u16 * by },
    knownPixels: work.knownPixels.map(({ u8, u16 }) => ({ u8: u8 * by, u16: u16 * by })),
    bins: work.bins * by,
    remoteFiles: work.remoteFiles * by,
    remoteBytes: work.remoteBytes * by,
  };
}
