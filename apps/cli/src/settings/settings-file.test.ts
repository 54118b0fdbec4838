import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { readSettings } from './read-settings.ts';
import { keyPlace, readSettingsFile } from './settings-file.ts';

const scratch = mkdtempSync(join(tmpdir(), 'halogrid-settings-'));
after(() => rmSync(scratch, { recursive: true }));

const text = `# comment
tile = 1

[run]
"nodes" = 2
[profiles.lab]
tile = 3
[ profiles . lab . run ]
nodes = 4
inline = { tile = 5 }
`;

const lines: [section: string[], key: string, place: string][] = [
  [[], 'tile', 'f:2'],
  [['run'], 'nodes', 'f:5'],
  [['profiles', 'lab'], 'tile', 'f:7'],
  [['profiles', 'lab', 'run'], 'nodes', 'f:9'],
  [['profiles', 'lab', 'run', 'inline'], 'tile', 'f'],
];

for (const [section, key, place] of lines) {
  test(`${[...section, key].join('.')} is at ${place}`, () => {
    assert.equal(keyPlace({ path: 'f', owner: 'user', root: {}, text }, section, key), place);
  });
}

const bad: [what: string, make: (path: string) => void, sentence: RegExp][] = [
  ['no TOML', (path) => writeFileSync(path, 'tile = 1\nnodes ='), /:2: Expected TOML but found: /],
  [
    'no TOML for want of quotes',
    (path) => writeFileSync(path, 'tile = 1\ngrid = 4x6 # cells\n'),
    /:2: Expected TOML but found: .*; put a text in quotes: grid = "4x6"$/,
  ],
  ['a folder', (path) => mkdirSync(path), /: Expected a file of settings but found something else$/],
  [
    'too long',
    (path) => writeFileSync(path, '#'.repeat(262_145)),
    /: Expected at most 262144 bytes of settings but found 262145$/,
  ],
];

for (const [what, make, sentence] of bad) {
  test(`a file that is ${what} is refused`, async () => {
    const path = join(scratch, `${what}.toml`);
    make(path);
    await assert.rejects(readSettingsFile(path, 'user'), { name: 'UsageError', message: sentence });
  });
}

const homes: [env: Record<string, string>, users: string | undefined][] = [
  [{ HOME: '/home/u' }, '/home/u/.config/halogrid/halogrid.toml'],
  [{ HOME: '/home/u', XDG_CONFIG_HOME: '/etc/u' }, '/etc/u/halogrid/halogrid.toml'],
  [{ HOME: '/home/u', XDG_CONFIG_HOME: 'relative' }, '/home/u/.config/halogrid/halogrid.toml'],
  [{ HOME: '/dev/null' }, '/dev/null/.config/halogrid/halogrid.toml'],
];

for (const [env, users] of homes) {
  test(`files are looked for in the folder, and in ${users}`, async () => {
    const { files, lookedAt } = await readSettings(env, scratch);
    assert.deepEqual([files, lookedAt], [[], [join(scratch, 'halogrid.toml'), users]]);
  });
}

test("a file that is both in the working folder and the user's counts as the user's", async () => {
  const folder = join(scratch, 'halogrid');
  mkdirSync(folder);
  writeFileSync(join(folder, 'halogrid.toml'), 'coordinator = "h:1"');
  const { files } = await readSettings({ XDG_CONFIG_HOME: scratch }, folder);
  assert.deepEqual(
    files.map(({ owner }) => owner),
    ['user'],
  );
});
