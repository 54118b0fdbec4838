import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SourceOutcome } from '../ledger/ledger.ts';
import { spec } from '../ledger/testing/ledger-scene.ts';
import { capturedBy, zonelessNotes } from './captured-by.ts';

const size = { width: 1, height: 1 };
const done = { name: 'a', state: 'done', size, tiles: 1, counted: 1, digest: new Uint8Array(32) } as const;
const zoneless = { localMs: 0 };
const sources: SourceOutcome[] = [
  { ...done, index: 0, uri: 'file:///20260131.jpg', captured: zoneless },
  { ...done, index: 1, uri: 'file:///b.jpg', captured: { localMs: 0, offsetMinutes: 60 } },
  { ...done, index: 2, uri: 'file:///c.mp4', video: { frame: 0, timestampMs: 0 }, captured: zoneless },
  { ...done, index: 3, uri: 'file:///c.mp4', video: { frame: 1, timestampMs: null }, captured: zoneless },
  { index: 4, uri: 'file:///d.jpg', name: 'd', state: 'quarantined', stage: 'read', error: 'It is gone', attempts: 1 },
];

const count = (from: string, zone: string) =>
  capturedBy({ job: { spec: { ...spec, captured: { from, zone } } } as never, sources }, { bins: 1 });

test('sources that are done are counted by where their times are from', () => {
  assert.deepEqual(count('', 'UTC'), { exif: 2, container: 1, unknown: 1 });
  assert.deepEqual(count('', ''), { zoneless: 2, exif: 1, unknown: 1 });
  assert.deepEqual(count('%Y%m%d', '+02:00'), { name: 1, unknown: 3 });
  assert.deepEqual(count('%Y%m%d', ''), { zoneless: 1, unknown: 3 });
});

test('sources of several pipelines are counted once, also where the first of them has no histograms', () => {
  const named = ['a', 'b'].map((name) => ({ name, pipeline: spec.pipeline }));
  const job = { spec: { ...spec, pipeline: undefined, pipelines: { named } } };
  const counts = capturedBy({ job: job as never, sources, parts: [] }, { bins: 0 });
  assert.deepEqual(counts, { zoneless: 2, exif: 1, unknown: 1 });
});

test('how many times lack a zone is told', () => {
  assert.deepEqual(zonelessNotes({ exif: 3 }), []);
  assert.deepEqual(zonelessNotes(undefined), []);
  assert.deepEqual(
    zonelessNotes({ zoneless: 2 }).map(({ text }) => text),
    ['2 inputs state a capture time without a zone: captured_at is null there, and --captured-zone would tell it'],
  );
});
