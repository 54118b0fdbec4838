/** Shades of a lane: fewer than the eye tells apart would be, and most neighbours are of the same one. */
const shades = 5;

/**
 * A lane as runs of one shade, from left to right: where it begins and ends in buckets, and how dark it is, from 1 to
 * 5; where a node held nothing there is none.
 *
 * @param {readonly number[]} held shards, by bucket
 * @param {number} most that any node held
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
