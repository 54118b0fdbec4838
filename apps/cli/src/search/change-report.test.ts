import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CameraChanges, Moment } from '@halogrid/search';
import { changeNotes, changeSheetRows, changesOf, describeChanges, timelineRows } from './change-report.ts';

const at = (time: number): Moment => ({ uri: 'file:///gate.mp4', frame: time / 40, isVideo: true, time });
const camera: CameraChanges = {
  camera: 'gate',
  time: 'timestamp_ms',
  frames: 250,
  withoutTime: 0,
  empty: 0,
  clockWentBack: 0,
  events: [
    { kind: 'left', start: at(2000), end: at(9960), strength: 0.25, cells: [5], before: at(1960), after: at(4000) },
    {
      kind: 'covered',
      start: at(5000),
      end: at(6000),
      strength: 0.5,
      cells: [0, 1, 2, 3, 4, 5],
      before: at(4960),
      after: at(5400),
    },
  ],
  timeline: [
    { time: 0, step: 0, reference: 0 },
    { time: 9960, step: 0.1, reference: 0.5 },
  ],
};

test('changes are a table for people', () => {
  const text = describeChanges(changesOf(camera, 3), [camera], 6);
  assert.equal(
    text,
    [
      'gate: 2 changes in 250 frames',
      '  kind     start  end     strength  cells',
      '  left     2.0 s  10.0 s  0.250     1,2',
      '  covered  5.0 s  6.0 s   0.500     all',
      '',
    ].join('\n'),
  );
});

test('times are clock times if these are known', () => {
  const [change] = changesOf({ ...camera, time: 'captured_at' }, 3);
  assert.deepEqual([change!.start, change!.time], ['1970-01-01T00:00:02.000Z', 'captured_at']);
});

test('notes mention clocks that go back and frames that are left out', () => {
  const firstBack = { uri: 'file:///gate/7.jpg', frame: 0 };
  const noted = { ...camera, frames: 20, withoutTime: 1, empty: 4, clockWentBack: 2, firstBack };
  assert.deepEqual(changeNotes([camera], 4.98), []);
  assert.deepEqual(changeNotes([camera], 16), [
    'gate is 9.96 s long: no lasting change can be found in less than 32 s, twice --min-duration (16).',
  ]);
  assert.deepEqual(changeNotes([{ ...camera, time: 'frame' }], 8000), [
    'gate is 9960 frames long: no lasting change can be found in less than 16000 frames, twice --min-duration (8000).',
  ]);
  assert.deepEqual(changeNotes([noted], 16), [
    "The clock of gate goes back 2 times, first at frame 0 of 'file:///gate/7.jpg': its frames are compared in the order of features.parquet, and times repeat.",
    '1 frame of gate left out: no timestamp_ms, which other frames have.',
    '4 frames of gate left out: no counted pixels.',
    'gate has 20 frames: the first 16 only serve as the reference for later ones.',
  ]);
});

test('a timeline and a sheet show events with their frames', () => {
  assert.deepEqual(timelineRows([camera])[0]!.events[1], {
    start: 5000,
    end: 6000,
    name: 'covered, 0.500',
    isLasting: true,
  });
  const read = { band: { numbers: [3] } };
  const [row] = changeSheetRows(camera, read);
  assert.deepEqual(row!.tiles.slice(0, 2), [
    { shown: { uri: 'file:///gate.mp4', videoFrame: 49, read }, caption: ['before', '2.0 s'] },
    { shown: { uri: 'file:///gate.mp4', videoFrame: 100, read }, caption: ['left, 0.250', '4.0 s'] },
  ]);
});
