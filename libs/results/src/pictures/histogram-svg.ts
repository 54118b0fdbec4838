import { countScale, type ScaleKind, scaleKind, shortCount } from './count-scale.ts';

export interface HistogramChart {
  /** The chart adds the kind of scale to it. */
  title: string;
  /** The text below the title: what was computed, over how many pixels or sources. */
  subtitle: string;
  /** One panel each, all with the same number of bins. */
  channels: { name: string; bins: BigUint64Array }[];
  /** Which values the bins count; without it bin b counts the code b. */
  binning?: ValueBins | undefined;
}

/** Bins of values. */
interface ValueBins {
  /** The lower end of the first bin, divided by `width`. */
  first: number;
  width: number;
}

const plot = { left: 84, width: 1024, height: 280 };
const headHeight = 84;
const lineHeight = 19;
/** How many characters of a description fit into the width of the plot. */
const lineLength = 140;
const panelHeight = plot.height + 84;
const width = plot.left + plot.width + 32;

/** One column per pixel of the plot's width. More could not be told apart, and the file would become large. */
const maxColumns = plot.width;

/** So that the bars of few bins are not a wall of colour. Narrow bars have no gaps, which would only make them pale. */
const maxBarWidth = 64;
const axisLabels = { linear: 'Number of pixels', logarithmic: 'Number of pixels, logarithmic' };

/** The chart has its own background, so that it can be read on any page. It is dark if the reader's screen is. */
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

/**
 * Draws histograms as a self-contained SVG: a bar per bin, which shows its exact count under the pointer. `scaleKind`
 * chooses the scale of heights for all channels together, and the title names it. With more than 1024 bins, each bar
 * stands for a run of neighbours, and the subtitle says how many.
 */
export function histogramSvg({ title, subtitle, channels, binning }: HistogramChart): string {
  const binsAColumn = Math.ceil((channels[0]?.bins.length ?? 0) / maxColumns);
  const lines = linesOf(binsAColumn > 1 ? `${subtitle} · ${binsAColumn} bins a column` : subtitle);
  const head = headHeight + (lines.length - 1) * lineHeight;
  const height = head + channels.length * panelHeight;
  const columns = channels.map(({ bins }) => columnsOf(bins, binning));
  const scale = scaleKind(columns.flat().map(({ count }) => Number(count)));
  const heading = `${title}, ${scale} scale`;
  const panels = channels.map(({ name }, i) => {
    const named = channels.length > 1 ? name : undefined;
    return panel(columns[i]!, { top: head + i * panelHeight, name: named, scale, binning });
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">
<title>${escapeXml(heading)}</title>
<style>${style}
</style>
<rect class="page" width="${width}" height="${height}"/>
<text class="title" x="${plot.left}" y="36">${escapeXml(heading)}</text>
${lines.map((line, i) => `<text x="${plot.left}" y="${60 + i * lineHeight}">${escapeXml(line)}</text>`).join('\n')}
${panels.join('\n')}
</svg>
`;
}

/** Cuts a text into lines that fit the plot, between words and after commas. */
function linesOf(text: string): string[] {
  const lines = [''];
  for (const word of text.split(/(?<= )|(?<=,)/)) {
    if (lines.at(-1)!.length + word.length > lineLength && lines.at(-1) !== '') lines.push('');
    lines.push(lines.pop()! + word);
  }
  return lines.map((line) => line.trim());
}

/** One channel's axes and bars, with its upper edge at `top`. */
function panel(
  columns: readonly Column[],
  {
    top,
    name,
    scale: kind,
    binning,
  }: { top: number; name: string | undefined; scale: ScaleKind; binning: ValueBins | undefined },
): string {
  const counts = columns.map(({ count }) => Number(count));
  const total = counts.reduce((sum, count) => sum + count, 0);
  const { part, ticks } = countScale(kind, counts);
  const base = plot.height;
  const columnWidth = plot.width / columns.length;
  const isNarrow = columnWidth < 3;
  // Rounded up to the digits that are written, so that no gap shows between two bars.
  const barWidth = isNarrow ? Math.ceil(100 * columnWidth) / 100 : Math.min(maxBarWidth, columnWidth - 1);
  const barOffset = isNarrow ? 0 : (columnWidth - barWidth) / 2;

  const grid = ticks.map((tick) => {
    const y = fixed(base - (tick === 0 ? 0 : part(tick)) * plot.height);
    const line = tick === 0 ? '' : `<line class="grid" x2="${plot.width}" y1="${y}" y2="${y}"/>`;
    return `${line}<text class="y" x="-10" y="${fixed(Number(y) + 4.5)}">${shortCount(tick)}</text>`;
  });
  const bars = columns.map(({ name: binName, count }, i) => {
    if (count === 0n) return '';
    // A column with a count must be visible, however high another one is.
    const barHeight = Math.max(0.75, part(counts[i]!) * plot.height);
    const share = ((100 * counts[i]!) / total).toFixed(3);
    return `<rect class="bar" x="${fixed(i * columnWidth + barOffset)}" y="${fixed(base - barHeight)}" width="${fixed(barWidth)}" height="${fixed(barHeight)}"><title>${binName}: ${count} pixels (${share} %)</title></rect>`;
  });
  const bins = columns.reduce((sum, column) => sum + column.bins, 0);
  const labels = binTicks(bins).map((bin) => {
    const column = Math.floor(bin / (columns[0]?.bins ?? 1));
    const x = fixed((column + 0.5) * columnWidth);
    return `<line class="axis" x1="${x}" x2="${x}" y1="${base}" y2="${base + 5}"/><text class="x" x="${x}" y="${base + 21}">${lowerEnd(bin, binning)}</text>`;
  });
  return `<g transform="translate(${plot.left} ${top + 16})">
${name === undefined ? '' : `<text class="channel" y="-8">Channel ${escapeXml(name)}</text>\n`}${grid.join('\n')}
<g${isNarrow ? ' shape-rendering="crispEdges"' : ''}>
${bars.filter(Boolean).join('\n')}
</g>
<line class="axis" x2="${plot.width}" y1="${base}" y2="${base}"/>
${labels.join('\n')}
<text class="label" x="${plot.width / 2}" y="${base + 44}">${axisName(binning)}</text>
<text class="label" transform="translate(-64 ${plot.height / 2}) rotate(-90)">${axisLabels[kind]}</text>
</g>`;
}

function axisName(values: ValueBins | undefined): string {
  if (!values) return 'Bin';
  return values.width === 1 ? 'Value' : `Value, in bins of ${values.width}`;
}

interface Column {
  /** The number of the bin, or of the first and the last bin of a run. For values, the lower ends of the bins. */
  name: string;
  bins: number;
  count: bigint;
}

/** The lower end of a bin of values; the bin's number if it counts a code. */
const lowerEnd = (bin: number, values: ValueBins | undefined): number =>
  values ? (values.first + bin) * values.width : bin;

/** A column per bin, or per run of bins if there are more than `maxColumns`. Only the last run may be shorter. */
function columnsOf(bins: BigUint64Array, values: ValueBins | undefined): Column[] {
  const run = Math.max(1, Math.ceil(bins.length / maxColumns));
  return Array.from({ length: Math.ceil(bins.length / run) }, (_, i) => {
    const first = i * run;
    const held = bins.subarray(first, first + run);
    const ends = held.length > 1 ? [first, first + held.length - 1] : [first];
    const name = ends.map((bin) => lowerEnd(bin, values)).join(values ? ' to ' : '–');
    return { name, bins: held.length, count: held.reduce((sum, count) => sum + count, 0n) };
  });
}

/** The bins that the axis names: all of up to 18 bins, else every 4th, 32nd or 512th, say; always the last one. */
function binTicks(bins: number): number[] {
  const step = bins <= 18 ? 1 : 2 ** Math.ceil(Math.log2(bins / 10));
  const ticks = Array.from({ length: Math.ceil(bins / step) }, (_, i) => i * step);
  const last = ticks[ticks.length - 1]!;
  // The last bin replaces a tick so near that the two numbers would touch.
  if (bins - 1 - last < step / 2 && last > 0) ticks.pop();
  if (ticks[ticks.length - 1] !== bins - 1) ticks.push(bins - 1);
  return ticks;
}

const fixed = (value: number): string => String(Math.round(value * 100) / 100);

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escapeXml = (text: string): string => text.replace(/[&<>"]/g, (character) => escapes[character]!);
