import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const halogrid = fileURLToPath(new URL('../bin/halogrid.mjs', import.meta.url));
const run = (...args: string[]) => spawnSync(process.execPath, [halogrid, ...args], { encoding: 'utf8' });

/** A coordinator behind the launcher, once it serves. */
async function startServer() {
  const args = [
    'coordinator',
    '--listen',
    '127.0.0.1:0',
    '--http',
    '127.0.0.1:0',
    '--ledger',
    'memory',
    '--log-level',
    'silent',
  ];
  const launcher = spawn(process.execPath, [halogrid, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines = createInterface({ input: launcher.stdout });
  const [line] = await Promise.race([once(lines, 'line'), once(lines, 'close').then(() => ['null'])]);
  const health = () => fetch(`http://127.0.0.1:${JSON.parse(line).http}/healthz`);
  assert.equal((await health()).status, 200);
  return { launcher, health };
}

test('the output and the exit code of the program are the launcher’s', () => {
  const version = run('--version');
  assert.deepEqual([version.status, version.stderr], [0, '']);
  assert.match(version.stdout, /^\d+\.\d+\.\d+ \(results version \d+\)\n$/);
});

test('wrong usage is one sentence on stderr and exit code 2', () => {
  const { status, stdout, stderr } = run('run', 'a.png', '--jsn');
  assert.deepEqual([status, stdout, stderr], [2, '', "halogrid: Unknown option '--jsn' (did you mean --json?)\n"]);
});

test('a signal to the launcher reaches the program, which ends in order', async () => {
  const { launcher, health } = await startServer();
  launcher.kill('SIGTERM');
  assert.deepEqual(await once(launcher, 'exit'), [0, null]);
  await assert.rejects(health());
});

test('the program does not outlive a launcher that is killed', async () => {
  const { launcher, health } = await startServer();
  launcher.kill('SIGKILL');
  const isGone = () =>
    health().then(
      () => false,
      () => true,
    );
  while (!(await isGone())) await new Promise((resolve) => setTimeout(resolve, 20));
});
