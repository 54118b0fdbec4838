import { escapeXml } from '@halogrid/results/svg-text';

/** What every chart keeps free around its plot, and how wide it is: readable where a page has 800 px. */
export const page = { left: 76, top: 76, right: 24, width: 800 };

/** Colour-blind people can tell these apart, on white and on black. */
export const colours = ['#2563eb', '#ea580c', '#059669', '#c026d3', '#ca8a04', '#0891b2', '#dc2626', '#64748b'];

const style = `
  text { font: 12px system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; fill: #4b5563 }
  .title { font-size: 18px; font-weight: 600; fill: #111827 }
  .page { fill: #ffffff }
  .grid { stroke: #e5e7eb }
  .axis { stroke: #6b7280 }
  .line { fill: none; stroke-width: 2 }
  .level { stroke: #6b7280; stroke-width: 2 }
  .y { text-anchor: end }
  .x, .label { text-anchor: middle }
  @media (prefers-color-scheme: dark) {
    text { fill: #9ca3af }
    .title { fill: #f3f4f6 }
    .page { fill: #111827 }
    .grid { stroke: #374151 }
  }`;

export interface ChartPage {
  title: string;
  /** A line below the title: the device. */
  subtitle: string;
  /** Height of the content below the title; `width` if the content is wider than a page. */
  height: number;
  width?: number;
}

/**
 * A self-contained SVG with its own background, so that it can be read on any page. It is dark if the screen is.
 */
export function chartPage({ title, subtitle, ...size }: ChartPage, content: readonly string[]): string {
  const height = page.top + size.height;
  const width = Math.ceil(Math.max(size.width ?? 0, page.width, page.left + titleWidth(title) + page.right));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">
<title>${escapeXml(title)}</title>
<style>${style}
</style>
<rect class="page" width="${width}" height="${height}"/>
<text class="title" x="${page.left}" y="32">${escapeXml(title)}</text>
<text x="${page.left}" y="54">${escapeXml(subtitle)}</text>
<g transform="translate(${page.left} ${page.top})">
${content.join('\n')}
</g>
</svg>
`;
}

/** About the width of a text in the font of the page, px. */
export const textWidth = (text: string): number => text.length * 6.5;

/** About the width of a title: enough for capitals and digits. */
const titleWidth = (title: string): number => title.length * 10.5;
