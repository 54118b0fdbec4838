import assert from 'node:assert/strict';
import { test } from 'node:test';
import { within } from '@halogrid/testing';
import { Halogrid, type HalogridOptions } from './halogrid.ts';

// A process that serves and has a fault of the program ends, and its log says why on one line.

const anyPort = '127.0.0.1:0';
const coordinator = ['coordinator', '--listen', anyPort, '--http', anyPort];
const node = ['node', '--coordinator', '127.0.0.1:1', '--device', 'cpu', '--http', anyPort];

/** Makes the process fail when it gets SIGUSR2. */
const failing = (fault: string): HalogridOptions => ({
  withoutLauncher: true,
  env: { NODE_OPTIONS: `--import=data:text/javascript,process.on('SIGUSR2',()=>{${fault}})` },
});

const table = [
  ['an exception', `throw(new(Error)('made%20up'))`],
  ['a rejection', `Promise.reject(new(Error)('made%20up'))`],
] as const;

for (const [what, fault] of table) {
  for (const command of [coordinator, node]) {
    test(`${what} that is not caught ends a ${command[0]} with exit code 1, and is one line of its log`, async (t) => {
      const program = new Halogrid([...command, '--log-level', 'error'], failing(fault));
      t.after(() => program.kill());
      await program.firstLine;
      program.signal('SIGUSR2');
      const { code, stderr } = await within('its end', program.ended);
      const [line, ...more] = stderr.trimEnd().split('\n');
      assert.deepEqual([code, more], [1, []], stderr);
      const { level, name, err, msg } = JSON.parse(line!);
      assert.deepEqual([level, name, msg], ['fatal', command[0], 'The program itself failed, and ends']);
      assert.match(err.stack, /^Error: made up\n {4}at /);
    });
  }
}

test('without a log, the stack is on stderr', async (t) => {
  const program = new Halogrid([...coordinator, '--log-level', 'silent'], failing(table[0][1]));
  t.after(() => program.kill());
  await program.firstLine;
  program.signal('SIGUSR2');
  const { code, stderr } = await within('its end', program.ended);
  assert.equal(code, 1);
  assert.match(stderr, /^Error: made up\n {4}at /);
});
