import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeAnswers, type PrintedResult, sheetRows } from './answers.ts';

const answer: PrintedResult = {
  rank: 1,
  uri: 'file:///archive/north%20gate/a.jpg',
  frame: 0,
  score: 0.98765432,
  row: 3,
  timestampMs: null,
  capturedAt: null,
  camera: null,
};
const ofVideo: PrintedResult = {
  ...answer,
  rank: 2,
  uri: 'file:///cam.mp4',
  frame: 250,
  timestampMs: 10_000,
  cellRow: 1,
  cellColumn: 2,
  folded: 7,
};
const answers = { query: 'a.jpg', distance: 'intersection' as const, results: [answer, ofVideo] };

test('answers are a table for people', () => {
  assert.equal(
    describeAnswers(answers),
    [
      'a.jpg: 2 results',
      '  rank  intersection  frame  time      source',
      '  1     0.987654      0      -         file:///archive/north%20gate/a.jpg',
      '  2     0.987654      250    10.000 s  file:///cam.mp4 cell 1,2 (and 7 nearby)',
      '',
    ].join('\n'),
  );
});

test('a sheet shows images and frames of videos', () => {
  const captured = { ...answer, rank: 3, uri: 'https://host/50%.jpg', capturedAt: '2026-01-31T08:00:00.000Z' };
  const read = { level: { number: 2 } };
  assert.deepEqual(sheetRows([{ ...answers, results: [answer, ofVideo, captured] }], read), [
    {
      title: 'a.jpg by intersection',
      tiles: [
        { shown: { uri: answer.uri, videoFrame: undefined, read }, caption: ['1. 0.987654', 'a.jpg'] },
        {
          shown: { uri: ofVideo.uri, videoFrame: 250, read },
          caption: ['2. 0.987654', 'cam.mp4#250 cell 1,2 10.000 s'],
        },
        {
          shown: { uri: captured.uri, videoFrame: undefined, read },
          caption: ['3. 0.987654', '50%.jpg 2026-01-31T08:00:00.000Z'],
        },
      ],
    },
  ]);
});
