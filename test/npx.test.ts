import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { eventually } from '@halogrid/testing';
import { Halogrid } from './halogrid.ts';
import { hasProc } from './process-list.ts';

// npx runs a program in a shell, and passes signals on only to that shell.

const skip = hasProc ? false : 'what is left running is told by /proc';
const cwd = fileURLToPath(new URL('..', import.meta.url));
const anyPort = '127.0.0.1:0';

const coordinator = ['coordinator', '--listen', anyPort, '--http', anyPort];
const node = ['node', '--coordinator', '127.0.0.1:9', '--device', 'cpu', '--http', anyPort];

/** bash replaces itself by the program, which then is a child of npx. */
const inBash = { npm_config_script_shell: 'bash' };

for (const [signal, command, env] of [
  ['SIGTERM', coordinator, {}],
  ['SIGTERM', node, {}],
  ['SIGKILL', coordinator, {}],
  ['SIGKILL', node, {}],
  ['SIGKILL', node, inBash],
] as const) {
  const how = env === inBash ? ', whose shell is bash,' : '';
  test(`${signal} to npx halogrid ${command[0]}${how} ends all of its processes`, { skip }, async () => {
    const program = new Halogrid(command, { cwd, npx: true, env });
    await program.firstLine;
    program.signal(signal);
    await eventually('its processes to be gone', () => program.processes().length === 0);
    await program.ended;
  });
}

test('Ctrl-C to all processes of npx halogrid coordinator counts as one signal', { skip }, async () => {
  const program = new Halogrid(coordinator, {
    cwd,
    npx: true,
    ownGroup: true,
  });
  await program.firstLine;
  process.kill(-program.pid, 'SIGINT');
  await eventually('its processes to be gone', () => program.processes().length === 0);
  const { stderr } = await program.ended;
  assert.doesNotMatch(stderr, /at once/);
});
