import { escapeXml, fixed } from '@halogrid/results/svg-text';
import { linearScale, log2Scale, log10Scale, shortNumber } from './axis-scale.ts';
import { chartPage, colours, page } from './chart-page.ts';
import { drawLegend } from './legend.ts';

export interface ChartLine {
  name: string;
  /** Lines of one group have one colour and different dashes. */
  group: number;
  dash: number;
  points: { x: number | string; y: number }[];
}

/** A value across the whole width, such as a limit or a published figure. */
export interface Level {
  name: string;
  y: number;
}

export interface LineChart {
  title: string;
  subtitle: string;
  xTitle: string;
  /** Values of x, side by side. Unless given, x is a number above 0 on a logarithmic scale. */
  categories?: readonly (number | string)[];
  yTitle: string;
  yScale: 'log10' | 'linear';
  lines: ChartLine[];
  levels?: readonly Level[];
}

const plot = { width: page.width - page.left - page.right, height: 320 };
const dashes = ['', '6 4', '2 3', '10 3 2 3'];

/**
 * Draws lines and a legend. Each point is a dot that shows its value under the pointer. Expects at least one point.
 */
export function lineChartSvg(chart: LineChart): string {
  const { title, subtitle, xTitle, categories, yTitle, yScale, lines, levels = [] } = chart;
  const points = lines.flatMap((line) => line.points);
  const x = horizontal(points, categories);
  const ys = [...points, ...levels].map((point) => point.y);
  const y = yScale === 'log10' ? log10Scale(ys) : linearScale(ys, 6);
  const left = (value: number | string) => fixed(x.place(value) * plot.width);
  const top = (value: number) => fixed((1 - y.place(value)) * plot.height);

  const grid = y.ticks.map((tick) => {
    const at = top(tick);
    return `<line class="grid" x2="${plot.width}" y1="${at}" y2="${at}"/><text class="y" x="-8" y="${fixed(Number(at) + 4)}">${shortNumber(tick)}</text>`;
  });
  const labels = x.ticks.map((tick) => {
    const at = left(tick);
    return `<line class="axis" x1="${at}" x2="${at}" y1="${plot.height}" y2="${plot.height + 5}"/><text class="x" x="${at}" y="${plot.height + 20}">${escapeXml(String(tick))}</text>`;
  });
  const across = levels.map(({ y: value }, i) => {
    const at = top(value);
    return `<line class="level" ${patternOf(i + 1)} x2="${plot.width}" y1="${at}" y2="${at}"/>`;
  });
  const drawn = lines.map(({ name, group, dash, points }) => {
    const path = points.map((point, i) => `${i ? 'L' : 'M'}${left(point.x)} ${top(point.y)}`).join('');
    const dots = points.map(
      (point) =>
        `<circle cx="${left(point.x)}" cy="${top(point.y)}" r="3" fill="${colourOf(group)}"><title>${escapeXml(`${name}, ${point.x}: ${shortNumber(point.y)}`)}</title></circle>`,
    );
    return `<path class="line" ${strokeOf(group, dash)} d="${path}"/>${dots.join('')}`;
  });
  const legend = drawLegend(
    [
      ...lines.map(({ name, group, dash }) => ({
        name,
        mark: `<line class="line" ${strokeOf(group, dash)} x2="28"/>`,
      })),
      ...levels.map(({ name, y: value }, i) => ({
        name: `${name}: ${shortNumber(value)}`,
        mark: `<line class="level" ${patternOf(i + 1)} x2="28"/>`,
      })),
    ],
    plot.height + 72,
  );
  return chartPage({ title, subtitle, height: plot.height + 76 + legend.height }, [
    ...grid,
    `<line class="axis" x2="${plot.width}" y1="${plot.height}" y2="${plot.height}"/>`,
    ...labels,
    ...across,
    ...drawn,
    `<text class="label" x="${plot.width / 2}" y="${plot.height + 44}">${escapeXml(xTitle)}</text>`,
    `<text class="label" transform="translate(-56 ${plot.height / 2}) rotate(-90)">${escapeXml(yTitle)}</text>`,
    ...legend.svg,
  ]);
}

const colourOf = (group: number): string => colours[group % colours.length]!;

const strokeOf = (group: number, dash: number): string => `stroke="${colourOf(group)}" ${patternOf(dash)}`.trimEnd();

function patternOf(dash: number): string {
  const pattern = dashes[dash % dashes.length]!;
  return pattern && `stroke-dasharray="${pattern}"`;
}

function horizontal(
  points: readonly { x: number | string }[],
  categories?: readonly (number | string)[],
): { place(value: number | string): number; ticks: readonly (number | string)[] } {
  if (categories) {
    return { place: (value) => (categories.indexOf(value) + 0.5) / categories.length, ticks: categories };
  }
  const { place, ticks } = log2Scale(points.map((point) => Number(point.x)));
  return { place: (value) => place(Number(value)), ticks };
}
