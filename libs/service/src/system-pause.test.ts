import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { within } from '@halogrid/testing';
import { systemPause } from './system-pause.ts';

test('a pause ends by time or by the signal, and then leaves no listener on the signal', async () => {
  const controller = new AbortController();
  const { signal } = controller;
  await within('the end of a short pause', systemPause(1, signal));
  assert.deepEqual(getEventListeners(signal, 'abort'), []);
  const long = systemPause(3_600_000, signal);
  controller.abort();
  await within('the end of a long pause', long);
  await within('the end of one that begins after the abort', systemPause(3_600_000, signal));
  assert.deepEqual(getEventListeners(signal, 'abort'), []);
});
