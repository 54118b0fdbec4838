import { escapeXml, fixed } from '@halogrid/results/svg-text';
import { linearScale, log10Scale, shortNumber } from './axis-scale.ts';
import { chartPage, colours, page, textWidth } from './chart-page.ts';
import { drawLegend } from './legend.ts';

export interface BarChart {
  title: string;
  subtitle: string;
  /** What the lengths of bars show, with the unit. */
  xTitle: string;
  xScale: 'log10' | 'linear';
  /** Bars of one name have one colour. */
  groups: { name: string; bars: { name: string; value: number }[] }[];
}

const bar = { height: 16, gap: 12 };
/** Room for the number behind the longest bar. */
const numberWidth = 56;

/**
 * Draws groups of horizontal bars, each with its number, and a legend if bars have names. Expects at least one bar
 * above 0.
 */
export function barChartSvg({ title, subtitle, xTitle, xScale, groups }: BarChart): string {
  const bars = groups.flatMap((group) => group.bars);
  const values = bars.map(({ value }) => value);
  // The bar of the least value needs a length, too.
  const x = xScale === 'log10' ? log10Scale([Math.min(...values) / 2, ...values]) : linearScale(values, 6);
  const names = [...new Set(bars.map(({ name }) => name))];
  const left = Math.max(0, Math.max(...groups.map(({ name }) => textWidth(name))) + 12 - page.left + 24);
  const width = page.width - page.left - page.right - left - numberWidth;
  const at = (value: number) => fixed(left + x.place(value) * width);

  const drawn: string[] = [];
  let y = 0;
  for (const group of groups) {
    const middle = y + (group.bars.length * bar.height) / 2;
    drawn.push(`<text class="y" x="${fixed(left - 10)}" y="${fixed(middle + 4)}">${escapeXml(group.name)}</text>`);
    for (const { name, value } of group.bars) {
      const length = fixed(Number(at(value)) - left);
      drawn.push(
        `<rect x="${fixed(left)}" y="${y + 1}" width="${length}" height="${bar.height - 2}" fill="${colourOf(names, name)}"><title>${escapeXml([group.name, name].filter(Boolean).join(', '))}: ${shortNumber(value)}</title></rect><text x="${fixed(Number(at(value)) + 6)}" y="${y + 12}">${shortNumber(value)}</text>`,
      );
      y += bar.height;
    }
    y += bar.gap;
  }
  const grid = x.ticks.map(
    (tick) =>
      `<line class="grid" x1="${at(tick)}" x2="${at(tick)}" y2="${y}"/><text class="x" x="${at(tick)}" y="${y + 16}">${shortNumber(tick)}</text>`,
  );
  const named = names.filter(Boolean).map((name) => ({
    name,
    mark: `<rect y="-6" width="28" height="12" fill="${colourOf(names, name)}"/>`,
  }));
  const legend = drawLegend(named, y + 64);
  return chartPage({ title, subtitle, height: y + 64 + legend.height }, [
    ...grid,
    ...drawn,
    `<text class="label" x="${fixed(left + width / 2)}" y="${y + 40}">${escapeXml(xTitle)}</text>`,
    ...legend.svg,
  ]);
}

const colourOf = (names: readonly string[], name: string): string => colours[names.indexOf(name) % colours.length]!;
