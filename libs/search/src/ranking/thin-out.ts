import type { Hit } from './hit.ts';

/** A hit that is shown. */
export interface Finding extends Hit {
  /** The number of further hits that it stands for. */
  folded: number;
}

export interface ThinOutOptions {
  /** The most findings of one source; no limit unless given. */
  perSource?: number;
  /**
   * Hits at most that many frames from a better one of the same run are folded into it; no hits are folded unless
   * given.
   */
  within?: number;
  /** The source of a frame. */
  sourceOf(row: number): string;
  /** The run of a frame: successive frames, whose numbers tell how far apart they are. */
  runOf(row: number): string;
}

/**
 * The first `top` findings of hits in their order, the best first: near-duplicates are folded, and no source has more
 * than its part. Hits behind the last finding change nothing, so it does not matter how many are given.
 */
export function thinOut(hits: Iterable<Hit>, top: number, options: ThinOutOptions): Finding[] {
  const { perSource = Number.POSITIVE_INFINITY, within, sourceOf, runOf } = options;
  const findings: Finding[] = [];
  const bySource = new Map<string, number>();
  const byRun = new Map<string, Finding[]>();
  for (const hit of hits) {
    if (findings.length === top) break;
    const run = byRun.get(runOf(hit.row)) ?? [];
    const better = within === undefined ? undefined : run.find(({ row }) => Math.abs(row - hit.row) <= within);
    if (better) {
      better.folded++;
      continue;
    }
    const source = sourceOf(hit.row);
    const taken = bySource.get(source) ?? 0;
    if (taken >= perSource) continue;
    bySource.set(source, taken + 1);
    const finding = { ...hit, folded: 0 };
    byRun.set(runOf(hit.row), [...run, finding]);
    findings.push(finding);
  }
  return findings;
}
