import { escapeXml, fixed } from '@halogrid/results/svg-text';
import { shortNumber } from './axis-scale.ts';
import { chartPage, page, textWidth } from './chart-page.ts';

export interface HeatMap {
  title: string;
  subtitle: string;
  xTitle: string;
  /** Headings of the columns, and of the rows. */
  columns: string[];
  rows: string[];
  /** Rows of fields: values above 0, or undefined if nothing was measured. */
  values: (number | undefined)[][];
}

const field = { width: 72, height: 30 };

/** From the least to the greatest value, evenly in the logarithm: dark blue, green, yellow. */
const stops: [red: number, green: number, blue: number][] = [
  [49, 46, 129],
  [37, 99, 155],
  [16, 145, 140],
  [94, 190, 100],
  [250, 220, 60],
];

/** Draws a table of numbers in coloured fields. Expects at least one value. */
export function heatMapSvg({ title, subtitle, xTitle, columns, rows, values }: HeatMap): string {
  const logs = values
    .flat()
    .filter((value) => value !== undefined)
    .map(Math.log);
  const [low, high] = [Math.min(...logs), Math.max(...logs)];
  const left = Math.max(...rows.map(textWidth)) + 12 - page.left + 24;
  const headings = columns.map(
    (name, i) => `<text class="x" x="${fixed(left + (i + 0.5) * field.width)}" y="12">${escapeXml(name)}</text>`,
  );
  const lines = rows.map((name, row) => {
    const top = 22 + row * field.height;
    const fields = columns.map((column, i) => {
      const value = values[row]?.[i];
      const x = left + i * field.width;
      const [at, y] = [fixed(x + field.width / 2), fixed(top + field.height / 2 + 4)];
      if (value === undefined) return `<text class="x" x="${at}" y="${y}">-</text>`;
      const part = high > low ? (Math.log(value) - low) / (high - low) : 1;
      const ink = part > 0.6 ? '#111827' : '#ffffff';
      return `<rect x="${fixed(x + 1)}" y="${top + 1}" width="${field.width - 2}" height="${field.height - 2}" rx="3" fill="${colourOf(part)}"><title>${escapeXml(`${name}, ${column}: ${value}`)}</title></rect><text class="x" x="${at}" y="${y}" style="fill: ${ink}">${shortNumber(value)}</text>`;
    });
    return `<text class="y" x="${fixed(left - 10)}" y="${fixed(top + field.height / 2 + 4)}">${escapeXml(name)}</text>${fields.join('')}`;
  });
  const bottom = 22 + rows.length * field.height;
  const right = page.left + left + columns.length * field.width + page.right;
  return chartPage({ title, subtitle, width: right, height: bottom + 44 }, [
    ...headings,
    ...lines,
    `<text class="label" x="${fixed(left + (columns.length * field.width) / 2)}" y="${bottom + 22}">${escapeXml(xTitle)}</text>`,
  ]);
}

/** The colour of a part from 0 to 1. */
function colourOf(part: number): string {
  const at = part * (stops.length - 1);
  const i = Math.min(stops.length - 2, Math.floor(at));
  const mixed = stops[i]!.map((from, channel) => Math.round(from + (stops[i + 1]![channel]! - from) * (at - i)));
  return `rgb(${mixed.join(' ')})`;
}
