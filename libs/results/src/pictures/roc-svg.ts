/** A curve of rates from 0 to 1, from (0, 0) to (1, 1). */
export interface RocChart {
  title: string;
  /** What was compared, in at most two lines. */
  subtitle: readonly string[];
  points: readonly { fpr: number; tpr: number }[];
  /** The point that is marked with a ring. */
  best: { fpr: number; tpr: number };
}

const side = 480;
const frame = { left: 72, top: 104, right: 32, bottom: 64 };

/** The most width of a letter, in pixels. */
const letter = 7;

/** A point that is nearer to the point before than this, in pixels, is not drawn. */
const least = 0.5;

const style = `
  text { font: 13px system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; fill: #4b5563 }
  .title { font-size: 22px; font-weight: 600; fill: #111827 }
  .page { fill: #ffffff }
  .grid { stroke: #e5e7eb }
  .curve { stroke: #2563eb; stroke-width: 2; fill: none }
  .best { stroke: #f59e0b; stroke-width: 2; fill: none }
  .y { text-anchor: end }
  .x { text-anchor: middle }
  @media (prefers-color-scheme: dark) {
    text { fill: #9ca3af } .title { fill: #f3f4f6 } .page { fill: #111827 } .curve { stroke: #60a5fa } .grid { stroke: #374151 }
  }`;

/** Draws the curve of a receiver operating characteristic, and the point nearest to (0, 1). */
export function rocSvg({ title, subtitle, points, best }: RocChart): string {
  const longest = Math.max(...subtitle.map(({ length }) => length));
  const width = Math.max(frame.left + side + frame.right, 48 + letter * longest);
  const height = frame.top + side + frame.bottom;
  const x = (rate: number): number => Math.round(rate * side * 10) / 10;
  const y = (rate: number): number => Math.round((1 - rate) * side * 10) / 10;
  let [last, path] = [{ fpr: -1, tpr: -1 }, ''];
  for (const [i, point] of points.entries()) {
    const isNear = Math.hypot(point.fpr - last.fpr, point.tpr - last.tpr) * side < least;
    if (isNear && i < points.length - 1) continue;
    path += `${i === 0 ? 'M' : 'L'}${x(point.fpr)} ${y(point.tpr)}`;
    last = point;
  }
  const ticks = [0, 0.2, 0.4, 0.6, 0.8, 1].map(
    (rate) =>
      `<path class="grid" d="M0 ${y(rate)}H${side}M${x(rate)} 0V${side}"/><text class="y" x="-8" y="${y(rate) + 4}">${rate}</text>` +
      `<text class="x" x="${x(rate)}" y="${side + 20}">${rate}</text>`,
  );
  const name = `TPR ${best.tpr.toFixed(4)}, FPR ${best.fpr.toFixed(4)}`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">
<title>${escaped(title)}</title>
<style>${style}
</style>
<rect class="page" width="${width}" height="${height}"/>
<text class="title" x="24" y="36">${escaped(title)}</text>${subtitle.map((words, i) => `<text x="24" y="${60 + 18 * i}">${escaped(words)}</text>`).join('')}
<g transform="translate(${frame.left} ${frame.top})">${ticks.join('')}
<path class="curve" d="${path}"/>
<circle class="best" cx="${x(best.fpr)}" cy="${y(best.tpr)}" r="6"><title>${name}</title></circle>
<text x="${x(best.fpr) + 14}" y="${y(best.tpr) + 18}">${name}</text>
<text class="x" x="${side / 2}" y="${side + 46}">false positive rate</text>
<text class="x" transform="translate(-48 ${side / 2}) rotate(-90)">true positive rate</text></g>
</svg>
`;
}

const escaped = (text: string): string => text.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`);
