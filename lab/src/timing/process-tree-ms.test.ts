import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { processTreeMs } from './process-tree-ms.ts';

test('the time is the sum of a process and all its descendants, ended ones included', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'halogrid-proc-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const put = (pid: number, parent: number, times: number[]) => {
    mkdirSync(join(root, String(pid)));
    // The fields of proc(5): pid, name, state, parent, …; the times begin at the fourteenth.
    const fields = [pid, `(a b) c)`, 'S', parent, 1, 1, 0, -1, 0, 0, 0, 0, 0, ...times, 20, 0];
    writeFileSync(join(root, String(pid), 'stat'), fields.join(' '));
  };
  put(1, 0, [1000, 0, 0, 0]);
  put(10, 1, [1, 2, 3, 4]);
  put(11, 10, [10, 0, 0, 0]);
  put(12, 11, [0, 0, 100, 0]);
  put(13, 1, [0, 5000, 0, 0]);
  mkdirSync(join(root, 'self'));
  assert.equal(processTreeMs(10, root), 1200);
  assert.equal(processTreeMs(11, root), 1100);
  assert.equal(processTreeMs(14, root), undefined);
  assert.equal(processTreeMs(10, join(root, 'nowhere')), undefined);
});
