import { binTicks, chartPage, plot } from './chart-page.ts';
import { countScale, type ScaleKind, scaleKind, shortCount } from './count-scale.ts';
import { escapeXml, fixed } from './svg-text.ts';

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

const panelHeight = plot.height + 84;

/** One column per pixel of the plot's width. More could not be told apart, and the file would become large. */
const maxColumns = plot.width;

/** So that the bars of few bins are not a wall of colour. Narrow bars have no gaps, which would only make them pale. */
const maxBarWidth = 64;
const axisLabels = { linear: 'Number of pixels', logarithmic: 'Number of pixels, logarithmic' };

/**
 * Draws histograms as a self-contained SVG: a bar per bin, which shows its exact count under the pointer. `scaleKind`
 * chooses the scale of heights for all channels together, and the title names it. With more than 1024 bins, each bar
 * stands for a run of neighbours, and the subtitle says how many.
 */
export function histogramSvg({ title, subtitle, channels, binning }: HistogramChart): string {
  const binsAColumn = Math.ceil((channels[0]?.bins.length ?? 0) / maxColumns);
  const columns = channels.map(({ bins }) => columnsOf(bins, binning));
  const scale = scaleKind(columns.flat().map(({ count }) => Number(count)));
  return chartPage({
    title: `${title}, ${scale} scale`,
    subtitle: binsAColumn > 1 ? `${subtitle} · ${binsAColumn} bins a column` : subtitle,
    height: channels.length * panelHeight,
    panels: (head) =>
      channels.map(({ name }, i) => {
        const named = channels.length > 1 ? name : undefined;
        return panel(columns[i]!, { top: head + i * panelHeight, name: named, scale, binning });
      }),
  });
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
