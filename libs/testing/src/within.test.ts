import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { eventually } from './eventually.ts';
import { countedMs } from './patience.ts';
import { pause } from './pause.ts';
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

test('it resolves and rejects as the promise does', async () => {
  assert.equal(await within('an answer', Promise.resolve(7)), 7);
  await assert.rejects(within('an answer', Promise.reject(new Error('no'))), /^Error: no$/);
});

test('a wait that is too long says what it waited for', async () => {
  await assert.rejects(
    within('a word that never comes', new Promise(() => {}), 200),
    /Waited \d+ ms for a word that never/,
  );
});

const skip = process.platform === 'linux' ? false : 'whether a process is stopped is told by /proc';

test('the time in which a process is stopped does not count', { skip }, async () => {
  // The program waits half a second for a message of its parent, and stops itself as soon as it waits.
  const program = `
    import { within } from '${new URL('within.ts', import.meta.url)}';
    const word = new Promise((resolve) => process.once('message', resolve));
    const waited = within('a word', word, 500).catch((error) => error.message);
    process.kill(process.pid, 'SIGSTOP');
    process.send(await waited);
    process.disconnect();`;
  const args = ['--input-type=module', '--eval', program];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const answer = once(child, 'message');
  await eventually('it to stop', () => /^\d+ \(.*\) T/.test(readFileSync(`/proc/${child.pid}/stat`, 'utf8')));
  await pause(1_000);
  child.send('here it is');
  child.kill('SIGCONT');
  assert.equal((await within('its answer', answer))[0], 'here it is');
});
