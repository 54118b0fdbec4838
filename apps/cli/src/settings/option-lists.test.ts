import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parse } from 'smol-toml';
import { createProgram, noSettings } from '../program.ts';
import { checkNames, keysOf } from './check-names.ts';
import { chooseSettings, commandPath } from './choose-settings.ts';
import { commandsWithExclusions, onlyTyped } from './exclusions.ts';
import { notOfFolder, ofFolder } from './folder-options.ts';
import type { Settings } from './read-settings.ts';
import { leavesOf } from './setting-command.ts';
import { variableOf } from './setting-values.ts';
import { otherVariables, unknownVariables } from './variables.ts';

const program = await createProgram(noSettings);
const keys = keysOf(program);
const names = program.commands.map((each) => each.name());

test('every option is listed either as allowed or as refused in a file of a folder', () => {
  const decided = new Set([...ofFolder, ...Object.keys(notOfFolder)]);
  assert.deepEqual(
    [...keys].filter((key) => !decided.has(key)),
    [],
  );
  for (const key of ofFolder) assert.ok(!(key in notOfFolder), key);
});

test('no option has the name of another variable', () => {
  const variables = new Set([...keys].map(variableOf));
  assert.deepEqual(
    Object.keys(otherVariables).filter((name) => variables.has(name)),
    [],
  );
  // No variable of an option looks like one of tests, or of a service of Kubernetes.
  const set = Object.fromEntries([...variables].map((name) => [name, '1']));
  assert.deepEqual(unknownVariables(set, new Set()).sort(), [...variables].sort());
});

test('exclusions name existing commands', () => {
  const paths = leavesOf(program).map((leaf) => commandPath(leaf).join(' '));
  for (const name of [...commandsWithExclusions, ...Object.keys(onlyTyped)]) assert.ok(paths.includes(name), name);
});

const fileOf = (text: string): Settings => ({
  env: {},
  files: [{ path: 'halogrid.toml', owner: 'user', text, root: parse(text) }],
  lookedAt: [],
});

const unknown: [text: string, sentence: RegExp][] = [
  [
    'tyle = 1',
    /^halogrid\.toml:1: Expected an option's name \('halogrid config' lists them\) but found 'tyle' \(did you mean tile\?\)$/,
  ],
  [
    '[run]\n\ntyle = 1',
    /^halogrid\.toml:3: Expected one of band, .* in \[run\] but found 'tyle' \(did you mean tile\?\)$/,
  ],
  [
    '[rnu]\ntile = 1',
    /^halogrid\.toml: Expected one of \[run\], .*\[profiles\] but found 'rnu' \(did you mean \[run\]\?\)$/,
  ],
  [
    '[profiles.lab.run]\ntyle = 1',
    /^halogrid\.toml:2: Expected one of .* in \[profiles\.lab\.run\] but found 'tyle' \(did you mean tile\?\)$/,
  ],
  [
    '[bench.kernel]\nwidth = 1',
    /^halogrid\.toml: Expected one of \[bench\.kernels\], .* but found 'kernel' \(did you mean \[bench\.kernels\]\?\)$/,
  ],
];

for (const [text, sentence] of unknown) {
  test(`${JSON.stringify(text)} is refused`, async () => {
    await assert.rejects(
      checkNames(fileOf(text), program, names, async () => program),
      { message: sentence },
    );
  });
}

test('a name of another command is accepted once all commands are loaded', async () => {
  const onlyRun = await createProgram(noSettings, ['run']);
  const sections = '[node]\nstorage = "remote"\n[bench.kernels]\nwidth = 1\n[index]\nto = "i"';
  for (const text of [sections, `top = 5\n${sections}`]) {
    assert.deepEqual(await checkNames(fileOf(text), onlyRun, names, async () => program), []);
  }
});

test('an unknown variable is reported, but not variables of Kubernetes and tests', async () => {
  const env = {
    HALOGRID_TYLE: '1',
    HALOGRID_TILE: '1',
    HALOGRID_TOKEN: 'x',
    HALOGRID_PROFILE: '',
    HALOGRID_THOROUGH: '1',
    HALOGRID_COORDINATOR_SERVICE_HOST: '10.0.0.1',
    HALOGRID_COORDINATOR_PORT_7070_TCP_ADDR: '10.0.0.1',
    HALOGRID_PORT: 'tcp://10.0.0.1:7070',
  };
  const settings = { env, files: [], lookedAt: [] };
  assert.deepEqual(await checkNames(settings, program, names, async () => program), [
    'HALOGRID_TYLE is set, and no option or variable of halogrid has that name (did you mean HALOGRID_TILE?).',
  ]);
});

const page = readFileSync(new URL('../../../../docs/command-line.md', import.meta.url), 'utf8');

test('the documentation names every command, and what a file of a folder may not set', () => {
  const rows = [...page.matchAll(/^\| `([a-z]+)` \| (.*) \|$/gm)].map(([, name, does]) => ({
    name: name!,
    does: does!,
  }));
  assert.deepEqual(
    rows.filter(({ name }) => names.includes(name)).map(({ name }) => name),
    names,
  );
  for (const { name, does } of rows) {
    const summary = program.commands.find((each) => each.name() === name)?.summary();
    if (summary) assert.ok(does.replaceAll('`', '').startsWith(summary), name);
  }
  const refused = page.slice(page.indexOf('| refused there |'), page.indexOf('## Completion'));
  for (const key of Object.keys(notOfFolder)) assert.ok(refused.includes(`\`${key}\``), key);
});

for (const [i, [, text]] of [...page.matchAll(/^```toml\n(.*?)^```$/gms)].entries()) {
  test(`the documented file ${i + 1} sets what commands take`, async () => {
    const owner = i === 0 ? 'user' : 'folder';
    const files = [{ path: 'halogrid.toml', owner, text: text!, root: parse(text!) } as const];
    const settings = { env: { HALOGRID_PROFILE: i === 0 ? 'lab' : '' }, files, lookedAt: [] };
    assert.deepEqual(await checkNames(settings, program, names, async () => program), []);
    for (const leaf of leavesOf(program)) {
      for (const { error, key } of chooseSettings(leaf, settings)) assert.equal(error, undefined, key);
    }
  });
}
