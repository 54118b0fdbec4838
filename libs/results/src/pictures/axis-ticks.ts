/** Values for an axis from 0 to `max` or a little above: 0 and steps of 1, 2 or 5 times a power of ten, integers only. */
export function axisTicks(max: number, wanted: number): number[] {
  const rough = Math.max(max, 1) / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(1, [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= rough)!);
  const ticks = [0];
  while (ticks[ticks.length - 1]! < max || ticks.length < 2) ticks.push(Math.round(ticks.length * step));
  return ticks;
}

/** A count in few characters: `0`, `750`, `1.5 k`, `20 M`, `3 G`, `1 T`. */
export function shortCount(value: number): string {
  const units = ['', ' k', ' M', ' G', ' T', ' P'];
  const unit = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(value, 1)) / 3)));
  return `${Number((value / 1000 ** unit).toPrecision(3))}${units[unit]}`;
}
