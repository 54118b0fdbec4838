import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UsageError } from '@halogrid/service';
import { capturedOptions } from './captured-options.ts';

test('options that are not given are left out', () => {
  assert.equal(capturedOptions({}), undefined);
  assert.deepEqual(capturedOptions({ capturedZone: '+02:00' }), { from: '', zone: '+02:00' });
  assert.deepEqual(capturedOptions({ capturedFrom: 'mtime' }), { from: 'mtime', zone: '' });
});

test('values that make no sense are refused with one sentence', () => {
  const refused = (choice: Parameters<typeof capturedOptions>[0], message: RegExp): void =>
    assert.throws(
      () => capturedOptions(choice),
      (error) => error instanceof UsageError && message.test(error.message),
    );
  refused({ capturedFrom: '' }, /^Expected a value for --captured-from but received ''$/);
  refused({ capturedFrom: '%Y%m' }, /for --captured-from but received '%Y%m': a date needs %m and %d, or %j$/);
  refused({ capturedZone: 'Mars' }, /for --captured-zone but received 'Mars'$/);
  refused({ capturedFrom: 'mtime', checksum: true }, /because --checksum tells files by content and not by time$/);
});
