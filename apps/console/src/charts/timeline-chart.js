import { element, svgElement } from '../elements.js';
import { describeEvent, timelineView } from '../words/timeline.js';

/** @import { CameraEvent, CameraTimeline } from '@halogrid/proto' */

const chart = { width: 1000, height: 140 };

/**
 * The chart of a camera: its distances over time, and its events, which can be chosen.
 *
 * @param {CameraTimeline} camera
 * @param {number} cells of the grid
 * @param {(event: CameraEvent) => void} open
 */
export function timelineChart(camera, cells, open) {
  const { step, reference, most, ends, bars, height } = timelineView(camera, chart.width, chart.height);
  const marks = bars.map(({ event, peak, span }) => {
    const words = describeEvent(event, camera.time, cells);
    const mark = svgElement(
      'g',
      { class: `event ${event.kind}`, tabindex: 0, role: 'button', 'aria-label': words },
      svgElement('title', {}, words),
      svgElement('rect', { class: 'span', ...span }),
      svgElement('rect', { class: 'peak', ...peak }),
    );
    mark.addEventListener('click', () => open(event));
    mark.addEventListener('keydown', (pressed) => {
      if (pressed.key !== 'Enter' && pressed.key !== ' ') return;
      pressed.preventDefault();
      open(event);
    });
    return mark;
  });
  const svg = svgElement(
    'svg',
    { viewBox: `0 0 ${chart.width} ${height}`, preserveAspectRatio: 'none', class: 'timeline', role: 'group' },
    svgElement('path', { class: 'base', d: `M0 ${chart.height}H${chart.width}` }),
    ...marks,
    svgElement('path', { class: 'step', d: step }),
    svgElement('path', { class: 'reference', d: reference }),
  );
  svg.setAttribute('aria-label', `Changes of ${camera.camera}`);
  const [from = '', to = ''] = ends;
  return element(
    'figure',
    { class: 'chart' },
    svg,
    element(
      'figcaption',
      {},
      element('span', {}, from),
      element('span', {}, `scale: 0 to ${most}`),
      element('span', {}, to),
    ),
  );
}
