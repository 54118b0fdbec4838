import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { eventually } from './eventually.ts';
import { isStopped, standStill } from './stand-still.ts';
import { within } from './within.ts';

test('a process stands still, even if something else wakes it, until it may go on', {
  skip: process.platform !== 'linux' && 'reads /proc',
}, async (t) => {
  const { pid } = spawn('sleep', ['1000']);
  t.after(() => process.kill(pid!, 'SIGKILL'));
  const goOn = standStill(pid!);
  await eventually('it to be stopped', () => isStopped(pid!));
  process.kill(pid!, 'SIGCONT');
  await eventually('it to be stopped again', () => isStopped(pid!));
  goOn();
  await eventually('it to go on', () => !isStopped(pid!));
});

test('a process that has ended may go on, and nothing else is signalled', async () => {
  const child = spawn('sleep', ['1000']);
  const goOn = standStill(child.pid!);
  child.kill('SIGKILL');
  await within('its end', once(child, 'exit'));
  goOn();
  assert.throws(() => standStill(child.pid!), { code: 'ESRCH' });
});
