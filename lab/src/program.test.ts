import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createLab } from './program.ts';
import { helpOf, scripts } from './scripts.ts';

const main = fileURLToPath(new URL('main.ts', import.meta.url));
const runLab = (...args: string[]) => spawnSync(process.execPath, [main, ...args], { encoding: 'utf8' });

test('without a command the lab lists all commands', () => {
  const { status, stdout } = runLab();
  assert.equal(status, 0);
  const names = [...createLab().commands.map((command) => command.name()), ...Object.keys(scripts)];
  assert.ok(names.length > 20);
  assert.equal(new Set(names).size, names.length, 'no two have one name');
  for (const name of names) assert.match(stdout, new RegExp(`^  ${name} `, 'm'));
});

test('the help of a benchmark has its options', () => {
  const { status, stdout } = runLab('video', '--help');
  assert.equal(status, 0);
  assert.match(stdout, /--copies <n> /);
});

test('the help of a script is the comment at its top, which says how to start it', () => {
  for (const [name, { path }] of Object.entries(scripts)) {
    assert.ok(existsSync(new URL(path, import.meta.url)), path);
    assert.match(helpOf(path), new RegExp(`^( *|.*=\\S+ )npm run lab -- ${name}( |$)`, 'm'), path);
  }
  const { status, stdout } = runLab('answers', '--help');
  assert.deepEqual([status, stdout], [0, helpOf('coordinator/answers.ts')]);
});

test('wrong usage ends with 2 and one sentence', () => {
  const wrong = runLab('search', '--kernel', 'none');
  assert.equal(wrong.status, 2);
  assert.equal(wrong.stderr, "lab: Expected one of lbp, ldp for --kernel but received 'none'\n");
  const unknown = runLab('reports', 'r1', 'r9');
  assert.equal(unknown.stderr, "lab: Expected one of r1, r2, r3, r4, r5 for a report but received 'r9'\n");
  assert.equal(runLab('nothing').status, 2);
});
