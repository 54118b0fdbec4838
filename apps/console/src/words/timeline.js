import { describeTime } from './frame-words.js';

/** @import { CameraEvent, CameraTimeline } from '@halogrid/proto' */

/** Kinds of changes by their API names, and what they mean. */
export const kinds = {
  covered: 'covered: the view is not visible',
  blurred: 'blurred: the view is visible, but not sharp',
  turned: 'turned: most cells changed, each differently',
  view: 'the view changed',
  left: 'an object was left or removed',
  passing: 'passing',
};

/**
 * The lane of each kind below the chart, which shows how long events last: 0 for the whole view, 1 for parts of it, 2
 * for what passes.
 */
const lanes = { covered: 0, blurred: 0, turned: 0, view: 0, left: 1, passing: 2 };
const laneHeight = 14;

/**
 * The places of a camera's changes on a chart of that size: time runs to the right, distance upward, lanes are below. A
 * peak is as high as its event is strong.
 *
 * @param {Pick<CameraTimeline, 'time' | 'timeline' | 'events'>} camera
 * @param {number} width
 * @param {number} height
 */
export function timelineView({ time, timeline, events }, width, height) {
  const times = timeline.map((point) => point.time);
  const [first, last] = [Math.min(...times), Math.max(...times)];
  const most = Math.max(
    0.05,
    ...timeline.map(({ step, reference }) => Math.max(step, reference)),
    ...events.map(({ strength }) => strength),
  );
  /** @param {number} at */
  const x = (at) => round(last > first ? ((at - first) / (last - first)) * width : 0);
  /** @param {number} distance */
  const y = (distance) => round((1 - distance / most) * height);
  /** @param {'step' | 'reference'} name */
  const line = (name) => timeline.map((point, i) => `${i ? 'L' : 'M'}${x(point.time)} ${y(point[name])}`).join('');
  const bars = events.map((event) => {
    const left = Math.min(x(event.start), width - barWidth);
    const lane = lanes[/** @type {keyof typeof lanes} */ (event.kind)];
    return {
      event,
      lane,
      peak: { x: left, y: y(event.strength), width: barWidth, height: round(height - y(event.strength)) },
      span: {
        x: left,
        y: height + lane * laneHeight + 2,
        width: Math.max(barWidth, round(x(event.end) - left)),
        height: laneHeight - 2,
      },
    };
  });
  return {
    step: line('step'),
    reference: line('reference'),
    most: most.toFixed(2),
    ends: timeline.length > 0 ? [describeTime(first, time), describeTime(last, time)] : [],
    // What is drawn last is on top, so passing events are drawn first.
    bars: bars.sort((a, b) => b.lane - a.lane),
    height: height + 3 * laneHeight,
  };
}

/** Width of the shortest event, so that people can see it and point at it. */
const barWidth = 4;

/** @param {number} value */
const round = (value) => Math.round(value * 10) / 10;

/** The events with lasting ones first. @param {readonly CameraEvent[]} events */
export function lastingFirst(events) {
  return [...events].sort((a, b) => Number(a.kind === 'passing') - Number(b.kind === 'passing'));
}

/**
 * An event as text: kind, time, strength and number of cells.
 *
 * @param {CameraEvent} event
 * @param {string} time as CameraTimeline.time
 * @param {number} allCells of the grid
 */
export function describeEvent({ kind, start, end, strength, cells }, time, allCells) {
  const when = start === end ? describeTime(start, time) : `${describeTime(start, time)} to ${describeTime(end, time)}`;
  const where = cells.length === allCells ? 'all cells' : `${cells.length} of ${allCells} cells`;
  return `${kind}, ${when}, strength ${strength.toFixed(3)}, ${where}`;
}

/** Notes on the frames of a camera, a sentence each. @param {CameraTimeline} camera */
export function cameraNotes({ camera, time, withoutTime, empty, clockWentBack, eventsLeftOut }) {
  /** @param {number} count @param {string} sentence */
  const note = (count, sentence) => (count > 0 ? [`${count} ${sentence}`] : []);
  return [
    ...note(
      clockWentBack,
      `times the clock of ${camera} goes back: its frames are compared in their order, and times repeat.`,
    ),
    ...note(withoutTime, `frames are left out: no ${time}, which other frames have.`),
    ...note(empty, 'frames are left out: no counted pixels.'),
    ...note(eventsLeftOut, "weaker passing changes are not listed; 'halogrid changes' lists all."),
  ];
}
