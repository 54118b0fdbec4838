import { escapeXml, fixed } from '@halogrid/results/svg-text';
import { page, textWidth } from './chart-page.ts';

export interface LegendEntry {
  name: string;
  /** SVG of the mark before the name: 28 px wide, its middle at y = 0. */
  mark: string;
}

const rowHeight = 18;
const markWidth = 36;
const gap = 22;

/** Entries side by side in as many rows as they need in the width of a page; `top` is the middle of the first row. */
export function drawLegend(entries: readonly LegendEntry[], top: number): { svg: string[]; height: number } {
  let [x, row] = [0, 0];
  const svg = entries.map(({ name, mark }) => {
    const width = markWidth + textWidth(name);
    if (x > 0 && x + width > page.width - page.left - page.right) [x, row] = [0, row + 1];
    const at = `translate(${fixed(x)} ${top + row * rowHeight})`;
    x += width + gap;
    return `<g transform="${at}">${mark}<text x="${markWidth}" y="4">${escapeXml(name)}</text></g>`;
  });
  return { svg, height: entries.length > 0 ? (row + 1) * rowHeight : 0 };
}
