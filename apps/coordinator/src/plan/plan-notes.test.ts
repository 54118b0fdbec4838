import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PlanNotes } from './plan-notes.ts';

test('each left-out folder gets one note, except the own output and more folders than anybody reads about', () => {
  const notes = new PlanNotes({ out: 'file:///a/own/' });
  notes.leaveOut({ path: '/a/own', jobId: 'j0' });
  assert.deepEqual(notes.take(), []);
  notes.leaveOut({ path: '/a/b', jobId: 'j1' });
  assert.deepEqual(notes.take(), [{ kind: 'note', text: "Left out '/a/b': it holds the output of job j1" }]);
  assert.deepEqual(notes.take(), []);
  for (let i = 2; i <= 23; i++) notes.leaveOut({ path: `/a/${i}`, jobId: `j${i}` });
  assert.equal(notes.take().length, 19);
  assert.deepEqual(notes.takeLast(), [
    { kind: 'note', text: 'Left out as well: 3 more folders that hold the output of a job' },
  ]);
});

test('videos without a frame in the chosen time are counted', () => {
  const told = (videos: number): string[] => {
    const notes = new PlanNotes({ out: 'file:///a/own/' });
    for (let i = 0; i < videos; i++) notes.leaveOutVideo();
    return notes.takeLast().map(({ text }) => text);
  };
  assert.deepEqual([0, 1, 2].map(told), [
    [],
    ['1 video left out: no frames in the chosen time'],
    ['2 videos left out: no frames in the chosen time'],
  ]);
});

test('a last note says how many inputs a pattern of names fits', () => {
  const captured = { from: '%Y%m%d', zone: '' };
  const told = (...uris: string[]): string[] => {
    const notes = new PlanNotes({ out: 'file:///a/own/', captured });
    for (const uri of uris) notes.count(uri);
    return notes.takeLast().map(({ text }) => text);
  };
  assert.deepEqual(told('file:///20260131.jpg'), []);
  assert.deepEqual(told('file:///20260131.jpg', 'file:///a.jpg', 'file:///b.jpg'), [
    "The pattern '%Y%m%d' of capture times fits 1 of 3 inputs: what it tells is null for the others",
  ]);
  assert.deepEqual(told('file:///a.jpg'), [
    "The pattern '%Y%m%d' of capture times fits no input: what it tells is null",
  ]);
});
