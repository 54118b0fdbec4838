import { binTicks, chartPage, plot } from './chart-page.ts';
import { countScale, scaleKind } from './count-scale.ts';
import { escapeXml, fixed } from './svg-text.ts';

export interface MatrixChart {
  /** The chart adds the kind of scale to it. */
  title: string;
  /** The text below the title: what was computed, over how many pixels or sources. */
  subtitle: string;
  /** A matrix each, row by row: `levels`² counts of pairs. */
  channels: { name: string; bins: BigUint64Array }[];
  levels: number;
}

/** Matrices stand two beside each other. */
const columns = 2;
const sidePx = 448;
const panelHeight = sidePx + 100;

/** The most squares a side. More could hardly be told apart, and the file would become large. */
const mostSquares = 32;

/**
 * Draws co-occurrence matrices as a self-contained SVG: a square for each pair of levels that occurs, which shows its
 * exact count under the pointer. The more pairs, the stronger its colour, by the scale that the title names, the same
 * for all matrices. With more than 32 levels a square stands for several, and the subtitle says for how many.
 */
export function matrixSvg({ title, subtitle, channels, levels }: MatrixChart): string {
  const run = Math.ceil(levels / mostSquares);
  const matrices = channels.map(({ bins }) => squaresOf(bins, levels, run));
  const counts = matrices.flat().map(({ count }) => Number(count));
  const scale = scaleKind(counts);
  const { part } = countScale(scale, counts);
  return chartPage({
    title: `${title}, ${scale} scale`,
    subtitle: run > 1 ? `${subtitle} · ${run} x ${run} pairs of levels a square` : subtitle,
    height: Math.ceil(channels.length / columns) * panelHeight,
    panels: (head) =>
      channels.map(({ name }, i) => {
        const left = plot.left + (i % columns) * (plot.width / columns);
        const top = head + Math.floor(i / columns) * panelHeight + 24;
        return `<g transform="translate(${left} ${top})">
<text class="channel" y="-8">Channel ${escapeXml(name)}</text>
${panel(matrices[i]!, levels, run, part)}
</g>`;
      }),
  });
}

interface Square {
  row: number;
  column: number;
  count: bigint;
}

/** Sums of run x run pairs of levels that are not 0. */
function squaresOf(bins: BigUint64Array, levels: number, run: number): Square[] {
  const side = Math.ceil(levels / run);
  const sums = new BigUint64Array(side ** 2);
  for (const [i, count] of bins.entries()) {
    const [row, column] = [Math.floor(i / levels), i % levels];
    sums[Math.floor(row / run) * side + Math.floor(column / run)]! += count;
  }
  return Array.from(sums, (count, i) => ({ row: Math.floor(i / side), column: i % side, count })).filter(
    ({ count }) => count > 0n,
  );
}

function panel(squares: readonly Square[], levels: number, run: number, part: (count: number) => number): string {
  const squarePx = sidePx / Math.ceil(levels / run);
  const named = (index: number): string =>
    run === 1 ? String(index) : `${index * run}–${Math.min(levels, (index + 1) * run) - 1}`;
  const total = squares.reduce((sum, { count }) => sum + Number(count), 0);
  const rects = squares.map(({ row, column, count }) => {
    // A pair that occurs must be visible, however often another one does.
    const opacity = fixed(0.08 + 0.92 * part(Number(count)));
    const share = ((100 * Number(count)) / total).toFixed(3);
    const place = `x="${fixed(column * squarePx)}" y="${fixed(row * squarePx)}" width="${fixed(squarePx)}" height="${fixed(squarePx)}"`;
    return `<rect class="bar" ${place} fill-opacity="${opacity}"><title>${named(row)} beside ${named(column)}: ${count} pairs (${share} %)</title></rect>`;
  });
  const ticks = binTicks(levels).map((level) => {
    const at = (Math.floor(level / run) + 0.5) * squarePx;
    return `<text class="x" x="${fixed(at)}" y="${sidePx + 18}">${level}</text><text class="y" x="-8" y="${fixed(at + 4.5)}">${level}</text>`;
  });
  return `<g shape-rendering="crispEdges">
${rects.join('\n')}
</g>
<rect class="axis" width="${sidePx}" height="${sidePx}" fill="none"/>
${ticks.join('\n')}
<text class="label" x="${sidePx / 2}" y="${sidePx + 40}">Level of the partner</text>
<text class="label" transform="translate(-44 ${sidePx / 2}) rotate(-90)">Level of the pixel</text>`;
}
