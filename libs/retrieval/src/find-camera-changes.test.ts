import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChangeEvent, ChangeKind } from '@halogrid/search';
import { chooseEvents } from './find-camera-changes.ts';

test('lasting events are chosen before passing ones, strong before weak, and stay in order of time', () => {
  const event = (kind: ChangeKind, time: number, strength: number): ChangeEvent => {
    const moment = { uri: 'file:///a', frame: time, isVideo: true, time };
    return { kind, start: moment, end: moment, strength, cells: [], before: moment, after: moment };
  };
  const events = [event('passing', 1, 0.9), event('left', 2, 0.1), event('passing', 3, 0.95), event('covered', 4, 0.5)];
  assert.deepEqual(
    chooseEvents(events, 3).map(({ start }) => start.time),
    [2, 3, 4],
  );
  assert.equal(chooseEvents(events, 9).length, 4);
});
