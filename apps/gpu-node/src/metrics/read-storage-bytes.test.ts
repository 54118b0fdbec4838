import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readStorageBytes } from './read-storage-bytes.ts';

test('bytes fetched from disks are read_bytes of proc_pid_io(5), if there is such a file', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'halogrid-test-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'io');
  // The example from the manual page.
  const lines = ['rchar: 323934931', 'wchar: 323929600', 'syscr: 632687', 'syscw: 632675', 'read_bytes: 4096'];
  writeFileSync(file, [...lines, 'write_bytes: 323932160', 'cancelled_write_bytes: 0', ''].join('\n'));
  assert.equal(readStorageBytes(file), 4096);
  assert.equal(readStorageBytes(join(folder, 'none')), undefined);
  writeFileSync(file, 'rchar: 1\n');
  assert.equal(readStorageBytes(file), undefined);
});
