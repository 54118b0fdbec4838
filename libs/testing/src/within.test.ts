import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { countedMs } from './patience.ts';
import { within } from './within.ts';

for (const [elapsedMs, counted, why] of [
  [100, 100, 'on time'],
  [97, 97, 'early'],
  [150, 150, 'as late as a busy machine makes it'],
  [151, 100, 'late'],
  [60_000, 100, 'after a stop of a minute'],
] as const) {
  test(`of ${elapsedMs} ms between ticks a wait counts ${counted}: ${why}`, () => {
    assert.equal(countedMs(elapsedMs, 100), counted);
  });
}

test('what is waited for resolves and rejects as it is', async () => {
  assert.equal(await within('an answer', Promise.resolve(7)), 7);
  await assert.rejects(within('an answer', Promise.reject(new Error('no'))), /^Error: no$/);
});

test('a wait that is too long says what it waited for', async () => {
  await assert.rejects(
    within('a word that never comes', new Promise(() => {}), 200),
    /Waited \d+ ms for a word that never/,
  );
});

test('the time in which a process is stopped does not count', async () => {
  // It waits half a second for a word of its parent, is stopped before that is over, and hears the word as it goes on.
  const program = `
    import { within } from '${new URL('within.ts', import.meta.url)}';
    const word = new Promise((resolve) => process.once('message', resolve));
    process.send('waits');
    process.send(await within('a word', word, 500).catch((error) => error.message));
    process.disconnect();`;
  const args = ['--input-type=module', '--eval', program];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  await once(child, 'message');
  child.kill('SIGSTOP');
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const answer = once(child, 'message');
  child.kill('SIGCONT');
  child.send('here it is');
  assert.deepEqual((await answer)[0], 'here it is');
});
