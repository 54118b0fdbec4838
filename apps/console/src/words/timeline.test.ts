import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CameraEvent } from '@halogrid/proto';
import { cameraNotes, describeEvent, lastingFirst, timelineView } from './timeline.js';

const passing = CameraEvent.fromPartial({ kind: 'passing', start: 250, end: 250, strength: 0.5, cells: [3] });
const covered = CameraEvent.fromPartial({ kind: 'covered', start: 500, end: 1000, strength: 1, cells: [0, 1, 2, 3] });
const point = (time: number, step: number, reference: number) => ({ time, step, reference });
const camera = {
  time: 'timestamp_ms',
  timeline: [point(0, 0, 0), point(500, 0.5, 1), point(1000, 0, 0.25)],
  events: [covered, passing],
};

test('time runs to the right, distance upward, a peak is as high as its event is strong, and a lane shows how long it lasts', () => {
  const { step, reference, ends, most, bars, height } = timelineView(camera, 100, 40);
  assert.equal(step, 'M0 40L50 20L100 40');
  assert.equal(reference, 'M0 40L50 0L100 30');
  assert.deepEqual([ends, most], [['0.0 s', '1.0 s'], '1.00']);
  // Passing events are drawn first, below lasting ones.
  assert.deepEqual(
    bars.map(({ event }) => event),
    [passing, covered],
  );
  const [{ peak: low }, { peak: high, span }] = bars as [(typeof bars)[number], (typeof bars)[number]];
  assert.deepEqual([low.x, low.y, low.height], [25, 20, 20]);
  assert.deepEqual([high.x, high.y, high.height], [50, 0, 40]);
  assert.deepEqual([span.x, span.width], [50, 50]);
  assert.ok(span.y > 40 && span.y + span.height <= height);
});

test('the chart of a camera with one moment, or none, contains no NaN', () => {
  for (const timeline of [[], [point(5, 0, 0)]]) {
    const view = timelineView({ time: 'frame', timeline, events: [] }, 100, 40);
    assert.doesNotMatch(JSON.stringify(view), /NaN|Infinity|null/);
  }
});

test('events and notes on frames are described in words, lasting events first', () => {
  assert.equal(describeEvent(covered, 'timestamp_ms', 4), 'covered, 0.5 s to 1.0 s, strength 1.000, all cells');
  assert.equal(describeEvent(passing, 'frame', 4), 'passing, frame 250, strength 0.500, 1 of 4 cells');
  assert.deepEqual(lastingFirst([passing, covered]), [covered, passing]);
  const none = { camera: 'north', frames: 9, withoutTime: 0, empty: 0, clockWentBack: 0, eventsLeftOut: 0, ...camera };
  assert.deepEqual(cameraNotes(none), []);
  const [back, ...more] = cameraNotes({ ...none, clockWentBack: 2, empty: 1, eventsLeftOut: 5 });
  assert.match(back!, /^2 times the clock of north goes back/);
  assert.equal(more.length, 2);
});
