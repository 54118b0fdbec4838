import { escapeXml } from './svg-text.ts';

/** Edges of a chart's plots, and the room above the first. */
export const plot = { left: 84, width: 1024, height: 280 };
const width = plot.left + plot.width + 32;
const headHeight = 84;
const lineHeight = 19;
/** How many characters of a description fit into the width of the plot. */
const lineLength = 140;

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

export interface ChartPage {
  title: string;
  /** The text below the title: what was computed, over how many pixels or sources. */
  subtitle: string;
  /** The height of all panels. */
  height: number;
  /** Draws the panels; `top` is their upper edge. */
  panels: (top: number) => readonly string[];
}

/** A self-contained SVG with a title, a text in as many lines as it needs, and panels below. */
export function chartPage({ title, subtitle, height: panelsHeight, panels }: ChartPage): string {
  const lines = linesOf(subtitle);
  const head = headHeight + (lines.length - 1) * lineHeight;
  const height = head + panelsHeight;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">
<title>${escapeXml(title)}</title>
<style>${style}
</style>
<rect class="page" width="${width}" height="${height}"/>
<text class="title" x="${plot.left}" y="36">${escapeXml(title)}</text>
${lines.map((line, i) => `<text x="${plot.left}" y="${60 + i * lineHeight}">${escapeXml(line)}</text>`).join('\n')}
${panels(head).join('\n')}
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

/** The bins that an axis names: all of up to 18 bins, else every 4th, 32nd or 512th, say; always the last one. */
export function binTicks(bins: number): number[] {
  const step = bins <= 18 ? 1 : 2 ** Math.ceil(Math.log2(bins / 10));
  const ticks = Array.from({ length: Math.ceil(bins / step) }, (_, i) => i * step);
  const last = ticks[ticks.length - 1]!;
  // The last bin replaces a tick so near that the two numbers would touch.
  if (bins - 1 - last < step / 2 && last > 0) ticks.pop();
  if (ticks[ticks.length - 1] !== bins - 1) ticks.push(bins - 1);
  return ticks;
}
