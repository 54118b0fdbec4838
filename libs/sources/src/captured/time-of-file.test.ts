import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CaptureTime } from './capture-time.ts';
import { timeOfFile } from './time-of-file.ts';

const stated: CaptureTime = { localMs: 86_400_000, offsetMinutes: -90 };
const zoneless: CaptureTime = { localMs: 86_400_000 };
/** In UTC. */
const changed: CaptureTime = { localMs: 1_700_000_000_123, offsetMinutes: 0 };

// By the time of change or by what the file states, the version, what is stated, and when it counts as captured.
const decisions: [goesByMtime: boolean, version: string | undefined, stated?: CaptureTime, counts?: CaptureTime][] = [
  [false, '20000 1700000000123.75', stated, stated],
  [false, '20000 1700000000123.75', zoneless, zoneless],
  [false, '20000 1700000000123.75', undefined, undefined],
  [true, '20000 1700000000123.75', stated, changed],
  [true, 'mtime=1700000000.1239 size=5', undefined, changed],
  [true, 'etag=a mtime=1700000000.1239', undefined, changed],
  // A server tells no time, or one of its own.
  [true, '"a" Tue, 14 Nov 2023 22:13:20 GMT 5', stated, undefined],
  [true, 'size=5', stated, undefined],
  [true, undefined, stated, undefined],
];

test('the capture time of a file is its last change, for a job that wants that, or else the time that it states', () => {
  for (const [goesByMtime, version, its, expected] of decisions) {
    const time = timeOfFile(
      goesByMtime,
      () => version,
      () => its,
    );
    assert.deepEqual(time, expected, `${goesByMtime} ${version}`);
  }
});

test('a time that does not count is not read', () => {
  const never = () => assert.fail('it was asked for');
  assert.equal(
    timeOfFile(true, () => undefined, never),
    undefined,
  );
  assert.equal(
    timeOfFile(false, never, () => stated),
    stated,
  );
});
