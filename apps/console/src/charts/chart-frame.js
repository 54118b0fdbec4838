import { svgElement } from '../elements.js';

/** Space around the plot for the labels of the axes, in pixels. */
export const margin = { left: 74, right: 8, top: 10, bottom: 22 };

/**
 * An SVG with two axes; each tick has a line and a label. `drawn` uses the same pixels.
 *
 * @param {object} frame
 * @param {number} frame.width
 * @param {number} frame.height
 * @param {string} frame.label
 * @param {readonly { at: number, words: string }[]} frame.across pixels from the left of the plot
 * @param {readonly { at: number, words: string }[]} frame.up pixels from the bottom of the plot
 * @param {readonly Node[]} drawn
 */
export function chartFrame({ width, height, label, across, up }, drawn) {
  const { right, bottom } = plotOf(width, height);
  const svg = svgElement('svg', { class: 'plot', viewBox: `0 0 ${width} ${height}`, height, role: 'img' });
  svg.setAttribute('aria-label', label);
  for (const { at, words } of up) {
    const y = bottom - at;
    svg.append(
      svgElement('path', { class: 'grid', d: `M${margin.left} ${y}H${right}` }),
      svgElement('text', { x: margin.left - 8, y: y + 4, 'text-anchor': 'end' }, words),
    );
  }
  for (const [i, { at, words }] of across.entries()) {
    const x = margin.left + at;
    const isLast = i > 0 && i === across.length - 1 && right - x < 24;
    svg.append(
      svgElement('path', { class: 'tick', d: `M${x} ${bottom}v4` }),
      svgElement('text', { x, y: height - 5, 'text-anchor': isLast ? 'end' : i === 0 ? 'start' : 'middle' }, words),
    );
  }
  svg.append(...drawn);
  return svg;
}

/** The rectangle of the chart in which values are drawn. @param {number} width @param {number} height */
export function plotOf(width, height) {
  const [right, bottom] = [width - margin.right, height - margin.bottom];
  return { left: margin.left, right, top: margin.top, bottom, width: right - margin.left, height: bottom - margin.top };
}
