import assert from 'node:assert/strict';
import { test } from 'node:test';
import { spec } from '@halogrid/ledger/testing-ledger-scene';
import { writesCaptured, zonelessNotes } from './captured-by.ts';

test('a job writes capture times with the histograms of any pipeline', () => {
  assert.ok(writesCaptured({ job: { spec } as never }, { bins: 1 }));
  assert.ok(!writesCaptured({ job: { spec } as never }, { bins: 0 }));
  const named = ['a', 'b'].map((name) => ({ name, pipeline: spec.pipeline }));
  const job = { spec: { ...spec, pipeline: undefined, pipelines: { named } } };
  assert.ok(writesCaptured({ job: job as never, parts: [] }, { bins: 0 }));
});

test('a note says how many times lack a zone', () => {
  assert.deepEqual(zonelessNotes({ exif: 3 }), []);
  assert.deepEqual(zonelessNotes(undefined), []);
  assert.deepEqual(
    zonelessNotes({ zoneless: 2 }).map(({ text }) => text),
    [
      '2 inputs state a capture time without a zone: captured_at is null there. Run the same again with the zone (--captured-zone, captured.zone): that adds the times and computes nothing',
    ],
  );
});
