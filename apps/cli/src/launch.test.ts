import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isThorough, pause, within } from '@halogrid/testing';

const halogrid = fileURLToPath(new URL('../bin/halogrid.mjs', import.meta.url));
const main = fileURLToPath(new URL('main.ts', import.meta.url));

/** Options of Node for the launcher: with a Node that can replace its process, and with one that cannot. */
const launchers: [name: string, options: string[]][] = [
  ['that becomes the program', []],
  ['that stays beside it', ['--import', 'data:text/javascript,delete process.execve']],
];

const anyPort = ['--http', '127.0.0.1:0', '--log-level', 'silent'];
const coordinator = ['coordinator', '--listen', '127.0.0.1:0', '--ledger', 'memory', ...anyPort];
const node = ['node', '--coordinator', '127.0.0.1:1', '--device', 'cpu', ...anyPort];

const spawned = (options: string[], args: string[]) =>
  spawn(process.execPath, [...options, halogrid, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });

/** A coordinator or node behind the launcher, once it serves. */
async function startServer(options: string[], args: string[]) {
  const launcher = spawned(options, args);
  const lines = createInterface({ input: launcher.stdout });
  const said = Promise.race([once(lines, 'line'), once(lines, 'close').then(() => ['null'])]);
  const [line] = await within(`a ${args[0]} to serve`, said);
  const health = () => fetch(`http://127.0.0.1:${JSON.parse(line).http}/healthz`);
  assert.equal((await health()).status, 200);
  return { launcher, health };
}

test('--version prints the version and nothing else', () => {
  const version = spawnSync(process.execPath, [halogrid, '--version'], { encoding: 'utf8' });
  assert.deepEqual([version.status, version.stderr], [0, '']);
  assert.match(version.stdout, /^\d+\.\d+\.\d+ \(results version \d+\)\n$/);
});

/** The installed Node outside the checkout, which may be older. */
const path = process.env.PATH!.split(delimiter).filter((folder) => !folder.includes('node_modules'));
const installed = path.map((folder) => join(folder, 'node')).find((file) => existsSync(file));

test('the installed Node starts the Node of the checkout', {
  skip: installed ? false : 'there is none',
}, () => {
  const version = spawnSync(installed!, [halogrid, '--version'], { encoding: 'utf8' });
  assert.deepEqual([version.status, version.stderr], [0, '']);
});

test('wrong usage is one sentence on stderr and exit code 2, however the program is launched', () => {
  for (const [, options] of launchers) {
    const args = [...options, halogrid, 'run', 'a.png', '--jsn'];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    assert.deepEqual([status, stdout, stderr], [2, '', "halogrid: Unknown option '--jsn' (did you mean --json?)\n"]);
  }
});

for (const [name, options] of launchers) {
  test(`a signal to a launcher ${name} reaches the program, which ends in order`, async () => {
    const { launcher, health } = await startServer(options, coordinator);
    launcher.kill('SIGTERM');
    assert.deepEqual(await within('the end of the launcher', once(launcher, 'exit')), [0, null]);
    await assert.rejects(health());
  });

  for (const args of [coordinator, node]) {
    test(`a ${args[0]} does not outlive a launcher ${name} and is killed`, async () => {
      const { launcher, health } = await startServer(options, args);
      const closed = once(launcher.stdout, 'close');
      launcher.kill('SIGKILL');
      // Any process that is left keeps its stdout open.
      await within('the end of all processes', closed);
      await assert.rejects(health());
    });
  }

  test(`nothing outlives a launcher ${name} and is killed while it starts`, async () => {
    for (let ms = 20; ms <= 320; ms += isThorough ? 60 : 150) {
      const launcher = spawned(options, coordinator);
      launcher.stdout.resume();
      const closed = once(launcher.stdout, 'close');
      await pause(ms);
      launcher.kill('SIGKILL');
      await within(`the end of all processes, ${ms} ms after the start`, closed);
    }
  });
}

test('a program whose launcher is already gone does not begin', async (t) => {
  // It is paused until the other end of its channel is closed.
  const wait = "if (process.connected) await new Promise((resolve) => process.once('disconnect', resolve));";
  const late = `data:text/javascript,${encodeURIComponent(wait)}`;
  const child = spawn(process.execPath, ['--import', late, main, ...coordinator], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  t.after(() => child.kill('SIGKILL'));
  child.disconnect();
  assert.deepEqual(await within('the end of the program', once(child, 'exit')), [143, null]);
});
