/** The changes in a camera over time. */
export interface ChangesRow {
  title: string;
  /** The first and the last time, as texts. */
  ends: readonly [string, string];
  /** Points in order of time, which has any unit. `step` and `reference` are distances from 0 to 1. */
  points: readonly { time: number; step: number; reference: number }[];
  events: readonly { start: number; end: number; name: string; isLasting: boolean }[];
}

const chart = { width: 1000, height: 120, left: 64, right: 24, top: 44, bottom: 34 };
const headHeight = 60;

const style = `
  text { font: 13px system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; fill: #4b5563 }
  .title { font-size: 22px; font-weight: 600; fill: #111827 }
  .page { fill: #ffffff }
  .grid { stroke: #e5e7eb }
  .step { stroke: #9ca3af; fill: none }
  .reference { stroke: #2563eb; stroke-width: 1.5; fill: none }
  .passing { fill: #9ca3af; opacity: 0.3 }
  .lasting { fill: #f59e0b; opacity: 0.45 }
  .end { text-anchor: end }
  @media (prefers-color-scheme: dark) {
    text { fill: #9ca3af } .title { fill: #f3f4f6 } .page { fill: #111827 } .reference { stroke: #60a5fa } .grid { stroke: #374151 }
  }`;

/** Draws a row per camera: how far its frames are from the frame before and from the reference, and its events. */
export function changesSvg(title: string, rows: readonly ChangesRow[]): string {
  const rowHeight = chart.top + chart.height + chart.bottom;
  const [width, height] = [chart.left + chart.width + chart.right, headHeight + rows.length * rowHeight + 24];
  const drawn = rows.map(
    (row, i) => `<g transform="translate(${chart.left} ${headHeight + i * rowHeight + chart.top})">${drawRow(row)}</g>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">
<title>${escaped(title)}</title>
<style>${style}
</style>
<rect class="page" width="${width}" height="${height}"/>
<text class="title" x="24" y="36">${escaped(title)}</text>
<text x="24" y="58">grey: from the frame before; blue: from the reference; bars: passing (grey) and lasting (amber)</text>
${drawn.join('\n')}
</svg>
`;
}

function drawRow({ title, ends, points, events }: ChangesRow): string {
  const times = points.map(({ time }) => time);
  const first = times.reduce((least, time) => Math.min(least, time), times[0] ?? 0);
  const last = times.reduce((most, time) => Math.max(most, time), first);
  const most = points.reduce((top, { step, reference }) => Math.max(top, step, reference), 0.05);
  const x = (time: number): number => Math.round(((time - first) / (last - first || 1)) * chart.width * 10) / 10;
  const y = (distance: number): number => Math.round((1 - distance / most) * chart.height * 10) / 10;
  const line = (name: 'step' | 'reference'): string =>
    `<path class="${name}" d="${points.map((point, i) => `${i ? 'L' : 'M'}${x(point.time)} ${y(point[name])}`).join('')}"/>`;
  const bars = events.map(({ start, end, name, isLasting }) => {
    const wide = Math.max(2, x(end) - x(start));
    return `<rect class="${isLasting ? 'lasting' : 'passing'}" x="${x(start)}" y="0" width="${Math.round(wide * 10) / 10}" height="${chart.height}"><title>${escaped(name)}</title></rect>`;
  });
  const ticks = [0, most / 2, most].map(
    (distance) =>
      `<path class="grid" d="M0 ${y(distance)}H${chart.width}"/><text class="end" x="-8" y="${y(distance) + 4}">${distance.toFixed(2)}</text>`,
  );
  const words = `<text x="0" y="-12">${escaped(title)}</text><text x="0" y="${chart.height + 20}">${escaped(ends[0])}</text><text class="end" x="${chart.width}" y="${chart.height + 20}">${escaped(ends[1])}</text>`;
  return `${words}${ticks.join('')}${bars.join('')}${line('step')}${line('reference')}`;
}

const escaped = (text: string): string => text.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`);
