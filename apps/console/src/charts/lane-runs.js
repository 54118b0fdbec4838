/** Shades of a lane: few enough to be told apart, and to give most neighbours the same one. */
const shades = 5;

/**
 * A lane as runs of one shade, from left to right: the first bucket, the bucket after the last, and the shade from 1 to
 * 5. Buckets without a shard have no run.
 *
 * @param {readonly number[]} held shards, by bucket
 * @param {number} most shards that any node held at once
 */
export function laneRuns(held, most) {
  /** @type {{ from: number, to: number, shade: number }[]} */
  const runs = [];
  for (const [i, value] of held.entries()) {
    const shade = value > 0 ? Math.max(1, Math.ceil((value / most) * shades)) : 0;
    const last = runs.at(-1);
    if (last && last.to === i && last.shade === shade) last.to = i + 1;
    else if (shade > 0) runs.push({ from: i, to: i + 1, shade });
  }
  return runs;
}
