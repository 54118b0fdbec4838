import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ShardWork } from '@halogrid/jobs/shard';
import { plannedSources } from '@halogrid/jobs/testing-planned';
import { checkMended, InvalidResultError } from './check-answer.ts';

const frames: ShardWork = {
  kind: 'frames',
  sources: plannedSources([
    { index: 5, uri: 'file:///5' },
    { index: 6, uri: 'file:///6' },
  ]),
};
const error = { source: 6, stage: 'decode', error: 'broken' };

test('mended files are sources of the work without an error', () => {
  const mended = 'Bytes were left out';
  checkMended(frames, [{ mended, sources: 2, source: 5 }], []);
  const refusals: [why: RegExp, kinds: Parameters<typeof checkMended>[1], errors: (typeof error)[]][] = [
    [/source 7 was not asked for/, [{ mended, sources: 1, source: 7 }], []],
    [/source 6 was not asked for, or has an error/, [{ mended, sources: 1, source: 6 }], [error]],
    [/source 5 was not asked for/, [{ mended, sources: 0, source: 5 }], []],
    [/There are 3 files with bytes left out of 2/, [{ mended, sources: 3, source: 5 }], []],
    [/There are 2 files with bytes left out of 1/, [{ mended, sources: 2, source: 5 }], [error]],
  ];
  for (const [why, kinds, errors] of refusals) {
    assert.throws(
      () => checkMended(frames, kinds, errors),
      (thrown) => thrown instanceof InvalidResultError && why.test(thrown.message),
    );
  }
});
