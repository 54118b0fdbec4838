import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { eventually, pause, timeoutMs } from '@halogrid/testing';
import { Retrieval, retrievalLimits } from './retrieval.ts';

const nowhere = [{ name: 'none', folder: '/nowhere' }];

test('an order too many is refused at once, a slow one is ended, and the next order gets another process', async (t) => {
  const retrieval = new Retrieval({ ...retrievalLimits, searches: 2, orderMs: timeoutMs(60_000) });
  t.after(() => retrieval.close());
  const asked = [1, 2, 3].map(() => retrieval.ask('indexes', nowhere));
  await assert.rejects(asked[2]!, {
    kind: 'exhausted',
    message: '2 searches run or wait here already: ask again in a moment',
  });
  const [{ name, frames, error }] = (await asked[0])!;
  assert.deepEqual({ name, frames, error }, { name: 'none', frames: 0, error: 'There is no index in its folder' });
  await asked[1];

  // A process takes longer than 5 ms to start.
  const hurried = new Retrieval({ ...retrievalLimits, orderMs: 5 });
  t.after(() => hurried.close());
  for (let i = 0; i < 2; i++) {
    await assert.rejects(hurried.ask('indexes', nowhere), { kind: 'exhausted', message: /^It took more than 0.005 s/ });
  }
});

test('an idle process ends, and the next order gets another', async (t) => {
  const processes = () => process.getActiveResourcesInfo().filter((resource) => resource === 'ProcessWrap').length;
  const before = processes();
  const retrieval = new Retrieval({ ...retrievalLimits, idleMs: 0 });
  t.after(() => retrieval.close());
  for (let i = 0; i < 2; i++) {
    assert.equal((await retrieval.ask('indexes', nowhere)).length, 1);
    // The timer that ends the process is due before this pause is over.
    await pause(2);
  }
  await eventually('the processes to end', () => processes() <= before);
});

test('if no more files can be opened, a search is refused and the coordinator goes on', async () => {
  const program = fileURLToPath(new URL('./testing/no-files-left.ts', import.meta.url));
  for (const left of ['0', '3']) {
    const words = ['-c', 'ulimit -n 100; exec "$0" "$1" "$2"', process.execPath, program, left];
    const { stdout } = await promisify(execFile)('sh', words);
    assert.match(stdout, /^The process that searches cannot be started: .*too many (open )?files/i, left);
  }
});
