import { axisTicks, shortCount } from './axis-ticks.ts';

export interface HistogramChart {
  title: string;
  /** A line below the title: what was computed, over how much. */
  subtitle: string;
  /** One panel each, all with the same number of bins. */
  channels: { name: string; bins: BigUint64Array }[];
}

const plot = { left: 84, width: 1024, height: 280 };
const headHeight = 84;
const panelHeight = plot.height + 84;
const width = plot.left + plot.width + 32;

/** Its own background, so that it can be read on any page; dark where the reader's screen is. */
const style = `
  text { font: 13px system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; fill: #4b5563 }
  .title { font-size: 22px; font-weight: 600; fill: #111827 }
  .channel { font-size: 14px; font-weight: 600; fill: #111827 }
  .page { fill: #ffffff }
  .bar { fill: #2563eb }
  .bar:hover { fill: #f59e0b }
  .grid { stroke: #e5e7eb }
  .axis { stroke: #6b7280 }
  .y { text-anchor: end }
  .x, .label { text-anchor: middle }
  @media (prefers-color-scheme: dark) {
    text { fill: #9ca3af }
    .title, .channel { fill: #f3f4f6 }
    .page { fill: #111827 }
    .bar { fill: #60a5fa }
    .grid { stroke: #374151 }
  }`;

/** Draws histograms as a self-contained SVG: bars over the bins, which show their exact count under the pointer. */
export function histogramSvg({ title, subtitle, channels }: HistogramChart): string {
  const height = headHeight + channels.length * panelHeight;
  const panels = channels.map((channel, i) => panel(channel, headHeight + i * panelHeight, channels.length > 1));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">
<title>${escapeXml(title)}</title>
<style>${style}
</style>
<rect class="page" width="${width}" height="${height}"/>
<text class="title" x="${plot.left}" y="36">${escapeXml(title)}</text>
<text x="${plot.left}" y="60">${escapeXml(subtitle)}</text>
${panels.join('\n')}
</svg>
`;
}

/** One channel's axes and bars, with its upper edge at `top`. */
function panel({ name, bins }: { name: string; bins: BigUint64Array }, top: number, isNamed: boolean): string {
  const counts = Array.from(bins, Number);
  const total = counts.reduce((sum, count) => sum + count, 0);
  const highest = Math.max(1, ...counts) * 1.03;
  const ticks = axisTicks(highest, 6).filter((tick) => tick <= highest);
  const base = plot.height;
  const binWidth = plot.width / bins.length;
  const gap = Math.min(1, binWidth / 4);

  const grid = ticks.map((tick) => {
    const y = fixed(base - (tick / highest) * plot.height);
    const line = tick === 0 ? '' : `<line class="grid" x2="${plot.width}" y1="${y}" y2="${y}"/>`;
    return `${line}<text class="y" x="-10" y="${fixed(Number(y) + 4.5)}">${shortCount(tick)}</text>`;
  });
  const bars = counts.map((count, bin) => {
    if (count === 0) return '';
    // A bin that is not empty must be seen, however full another one is.
    const barHeight = Math.max(0.75, (count / highest) * plot.height);
    const share = ((100 * count) / total).toFixed(3);
    return `<rect class="bar" x="${fixed(bin * binWidth)}" y="${fixed(base - barHeight)}" width="${fixed(binWidth - gap)}" height="${fixed(barHeight)}"><title>${bin}: ${bins[bin]} pixels (${share} %)</title></rect>`;
  });
  const columns = binTicks(bins.length).map((bin) => {
    const x = fixed((bin + 0.5) * binWidth - gap / 2);
    return `<line class="axis" x1="${x}" x2="${x}" y1="${base}" y2="${base + 5}"/><text class="x" x="${x}" y="${base + 21}">${bin}</text>`;
  });
  return `<g transform="translate(${plot.left} ${top + 16})">
${isNamed ? `<text class="channel" x="${plot.width}" y="-8" text-anchor="end">${escapeXml(name)}</text>\n` : ''}${grid.join('\n')}
${bars.filter(Boolean).join('\n')}
<line class="axis" x2="${plot.width}" y1="${base}" y2="${base}"/>
${columns.join('\n')}
<text class="label" x="${plot.width / 2}" y="${base + 44}">Bin</text>
<text class="label" transform="translate(-64 ${plot.height / 2}) rotate(-90)">Number of pixels</text>
</g>`;
}

/** Every 32nd of 256 bins and the last one; of other numbers of bins, as many or each. */
function binTicks(bins: number): number[] {
  const step = Math.max(1, Math.ceil(bins / 8));
  const ticks = Array.from({ length: Math.ceil(bins / step) }, (_, i) => i * step);
  if (ticks[ticks.length - 1] !== bins - 1) ticks.push(bins - 1);
  return ticks;
}

const fixed = (value: number): string => String(Math.round(value * 100) / 100);

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escapeXml = (text: string): string => text.replace(/[&<>"]/g, (character) => escapes[character]!);
