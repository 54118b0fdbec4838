import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeMoment, describeTime, shortFrameName, timeOfFrame } from './frame-words.js';

test('a frame is named by its file, and a frame of a video also by its number', () => {
  const image = { uri: 'file:///archive/street%201.jpg', frame: 0, isVideo: false, picture: '' };
  assert.equal(shortFrameName(image), 'street 1.jpg');
  assert.equal(shortFrameName({ ...image, uri: 's3://bucket/cam1.mp4', frame: 250, isVideo: true }), 'cam1.mp4 #250');
});

test('a time is shown as a clock time, a time in a video, or a frame number', () => {
  const table: [time: number, kind: string, words: string][] = [
    [Date.UTC(2026, 0, 31, 8, 0, 5), 'captured_at', '2026-01-31 08:00:05 UTC'],
    [12_340, 'timestamp_ms', '12.3 s'],
    [65_000, 'timestamp_ms', '1:05.0'],
    [3_725_400, 'timestamp_ms', '1:02:05.4'],
    [59_960, 'timestamp_ms', '1:00.0'],
    [17, 'frame', 'frame 17'],
  ];
  for (const [time, kind, words] of table) assert.equal(describeTime(time, kind), words);
  const frame = { uri: 'file:///a.mp4', frame: 3, isVideo: true, picture: '', timestampMs: 100 };
  assert.equal(timeOfFrame(frame), '0.1 s');
  assert.equal(timeOfFrame({ ...frame, capturedMs: 0 }), '1970-01-01 00:00:00 UTC');
  assert.equal(timeOfFrame({ ...frame, timestampMs: undefined }), '');
});

test('a frame of an archive is described by its time, if it has one, or by its file', () => {
  const frame = { index: 4, uri: 'file:///archive/street%201.jpg', name: 'street 1', width: 1, height: 1, counted: 1 };
  assert.equal(describeMoment(frame), 'street 1.jpg');
  assert.equal(describeMoment({ ...frame, frame: 30, timestampMs: 65_000 }), '1:05.0');
});
