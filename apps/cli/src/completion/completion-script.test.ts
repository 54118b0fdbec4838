import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { createProgram, noSettings } from '../program.ts';
import { type CommandWords, commandWords } from './command-words.ts';
import { completionScript, shells } from './completion-script.ts';

const folder = mkdtempSync(join(tmpdir(), 'halogrid-completion-'));
after(() => rmSync(folder, { recursive: true }));
mkdirSync(join(folder, 'my photographs'));
writeFileSync(join(folder, 'cam 1.mp4'), '');

let commands: CommandWords[];
before(async () => {
  commands = commandWords(await createProgram(noSettings));
});

/** What a shell offers in the folder while the last of these words is typed. */
type Complete = (words: readonly string[]) => string[];

const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '');

/** Sets the variables that bash sets for a completion function. */
const inBash: Complete = (words) => {
  const script = `${completionScript('bash', commands)}
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _halogrid
printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', script, 'bash', ...words], {
    cwd: folder,
    encoding: 'utf8',
  });
  assert.equal(stderr, '');
  return linesOf(stdout);
};

const inFish: Complete = (words) => {
  const script = `${completionScript('fish', commands)}\ncomplete -C '${words.join(' ')}'`;
  const { stdout } = spawnSync('fish', ['--no-config', '-c', script], {
    cwd: folder,
    encoding: 'utf8',
    // fish makes a folder there with any options.
    env: { ...process.env, XDG_CONFIG_HOME: join(folder, '.fish'), XDG_DATA_HOME: join(folder, '.fish') },
  });
  return linesOf(stdout).map((line) => line.split('\t')[0]!.replace(/\/$/, ''));
};

const cases: [words: string[], offered: string[]][] = [
  [['halogrid', 'pl'], ['plan']],
  [
    ['halogrid', 'run', '--op', 'l'],
    ['lbp', 'ldp'],
  ],
  [
    ['halogrid', 'run', '--map', 't'],
    ['tiff', 'tiff:deflate'],
  ],
  [['halogrid', 'run', '--max'], ['--max-quarantined']],
  [['halogrid', 'run', '--out', ''], ['my photographs']],
  [
    ['halogrid', 'run', ''],
    ['cam 1.mp4', 'my photographs'],
  ],
  [['halogrid', 'bench', 'ke'], ['kernels']],
  [
    ['halogrid', 'bench', 'kernels', '--device', ''],
    ['gpu', 'software'],
  ],
  [
    ['halogrid', 'completion', ''],
    ['bash', 'fish', 'zsh'],
  ],
  [['halogrid', 'config', 'comp'], ['completion']],
  [['halogrid', 'kernels', 'co'], ['conv']],
  [['halogrid', 'he'], ['help']],
  [['halogrid', 'help', 'pl'], ['plan']],
  [['halogrid', 'status', ''], []],
];

const isThere = (shell: string): boolean => spawnSync(shell, ['--version']).status === 0;

for (const [shell, complete] of [
  ['bash', inBash],
  ['fish', inFish],
] as const) {
  const skip = isThere(shell) ? false : `there is no ${shell} here`;
  for (const [words, offered] of cases) {
    test(`${shell} offers '${offered.join("', '")}' for '${words.join(' ')}'`, { skip }, () => {
      assert.deepEqual(complete(words).sort(), offered);
    });
  }
}

test('bash completes --map=t and --map tiff:d, which it takes apart', () => {
  assert.deepEqual(inBash(['halogrid', 'run', '--map', '=', 't']), ['tiff', 'tiff:deflate']);
  for (const map of [['--map'], ['--map', '=']]) {
    assert.deepEqual(inBash(['halogrid', 'run', ...map, 'tiff', ':', 'd']), ['deflate']);
    assert.deepEqual(inBash(['halogrid', 'run', ...map, 'zarr', ':']), ['zstd']);
  }
});

for (const shell of shells) {
  test(`${shell} reads the script`, { skip: isThere(shell) ? false : `there is no ${shell} here` }, () => {
    const file = join(folder, `script.${shell}`);
    writeFileSync(file, completionScript(shell, commands));
    const { status, stderr } = spawnSync(shell, ['-n', file], { encoding: 'utf8' });
    rmSync(file);
    assert.deepEqual([status, stderr], [0, '']);
  });
}
