import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parse } from 'smol-toml';
import { createProgram } from '../program.ts';
import { chooseSettings, commandPath, settable } from './choose-settings.ts';
import type { Settings } from './read-settings.ts';
import { leavesOf } from './setting-command.ts';
import { settingKey, variableOf, words } from './setting-values.ts';

/** Settings of an environment, and of files by their owners. */
function settingsOf(env: Record<string, string>, files: { folder?: string; user?: string } = {}): Settings {
  const read = (['folder', 'user'] as const).flatMap((owner) => {
    const text = files[owner];
    return text === undefined ? [] : [{ path: `${owner}.toml`, owner, text, root: parse(text) }];
  });
  return { env, files: read, lookedAt: read.map(({ path }) => path) };
}

/** The options that an action gets for a command line, or the sentence that refuses it. */
async function optionsOf(line: string, settings: Settings): Promise<Record<string, unknown>> {
  const args = line.split(' ');
  const program = await createProgram(settings, [args[0]!]);
  let given: Record<string, unknown> = {};
  for (const leaf of leavesOf(program)) {
    leaf.action(() => {
      given = leaf.opts();
    });
  }
  await program.parseAsync(args, { from: 'user' });
  return given;
}

const all = { folder: 'tile = 3\n[profiles.lab]\ntile = 5', user: 'tile = 2\n[run]\ntile = 1' };

const precedence: [
  name: string,
  line: string,
  env: Record<string, string>,
  files: typeof all | { user: string } | undefined,
  tile: number | undefined,
][] = [
  ['nothing', 'run a', {}, undefined, undefined],
  ["the user's file, and the section of a command in it", 'run a', {}, { user: all.user }, 1],
  ["the folder's file", 'run a', {}, all, 3],
  ['a profile', 'run a --profile lab', {}, all, 5],
  ['a profile of the environment', 'run a', { HALOGRID_PROFILE: 'lab' }, all, 5],
  ['the environment', 'run a --profile lab', { HALOGRID_TILE: '6' }, all, 6],
  ['the command line', 'run a --tile 7 --profile lab', { HALOGRID_TILE: '6' }, all, 7],
  ['a variable that is empty is none', 'run a', { HALOGRID_TILE: '' }, all, 3],
];

for (const [name, line, env, files, tile] of precedence) {
  test(`--tile is ${tile} by ${name}`, async () => {
    assert.equal((await optionsOf(line, settingsOf(env, files))).tile, tile);
  });
}

const values: [what: string, line: string, settings: Settings, option: string, value: unknown][] = [
  [
    'a list of TOML',
    'run a',
    settingsOf({}, { user: 'op = ["conv:kernel=box-3", "lbp"]' }),
    'op',
    ['conv:kernel=box-3', 'lbp'],
  ],
  [
    'words of a variable',
    'run a',
    settingsOf({ HALOGRID_OP: 'conv:kernel=box-3,as=u8 lbp' }),
    'op',
    ['conv:kernel=box-3,as=u8', 'lbp'],
  ],
  [
    'a list that is typed, alone',
    'run a --op ldp',
    settingsOf({ HALOGRID_OP: 'lbp' }, { user: 'op = "lbp"' }),
    'op',
    ['ldp'],
  ],
  [
    'paths with spaces',
    'coordinator',
    settingsOf({ HALOGRID_DATA_ROOT: `'/srv/my photos' /data` }),
    'dataRoot',
    ['/srv/my photos', '/data'],
  ],
  ['several in one text', 'jobs', settingsOf({}, { user: 'coordinator = ["a:1", "b:2"]' }), 'coordinator', 'a:1,b:2'],
  ['a flag', 'run a', settingsOf({ HALOGRID_JSON: 'yes' }), 'json', true],
  ['a flag that is said no to', 'run a --no-json', settingsOf({}, { user: 'json = true' }), 'json', false],
  [
    'a flag of a variable that says no',
    'run a',
    settingsOf({ HALOGRID_JSON: '0' }, { user: 'json = true' }),
    'json',
    false,
  ],
  ['the section around a subcommand', 'bench kernels', settingsOf({}, { user: '[bench]\nwidth = 640' }), 'width', 640],
  [
    'a home that no shell has seen',
    'coordinator',
    settingsOf({ HOME: '/me' }, { user: 'ledger = "~/l"' }),
    'ledger',
    '/me/l',
  ],
  ['no home where it takes no path', 'run a', settingsOf({ HOME: '/me' }, { user: 'op = "~/l"' }), 'op', ['~/l']],
  ['what run has', 'plan a', settingsOf({}, { user: 'tile = 1\n[run]\ntile = 2' }), 'tile', 2],
  ['what it has itself', 'plan a', settingsOf({}, { user: '[run]\ntile = 2\n[plan]\ntile = 3' }), 'tile', 3],
  [
    'what run has in a profile',
    'plan a --profile lab',
    settingsOf({}, { user: '[profiles.lab]\ntile = 1\n[profiles.lab.run]\ntile = 2' }),
    'tile',
    2,
  ],
  ['no form of the output of run', 'plan a', settingsOf({}, { user: '[run]\njson = true' }), 'json', undefined],
  ['an option that must be there', 'search q.jpg', settingsOf({ HALOGRID_INDEX: 'i' }), 'index', 'i'],
];

for (const [what, line, settings, option, value] of values) {
  test(`'${line}' has ${what}`, async () => {
    assert.deepEqual((await optionsOf(line, settings))[option], value);
  });
}

const gone: [line: string, settings: Settings, expected: Record<string, unknown>][] = [
  [
    'run a --nodes 2',
    settingsOf({}, { user: 'coordinator = "h:1"\ngpu = "all"' }),
    { nodes: 2, coordinator: undefined, gpu: undefined },
  ],
  [
    'run a --gpu all',
    settingsOf({ HALOGRID_NODES: '2', HALOGRID_DEVICE: 'cpu' }),
    { gpu: 'all', nodes: undefined, device: undefined },
  ],
  ['run a --device gpu', settingsOf({ HALOGRID_GPU: 'all' }), { gpu: 'all', device: 'gpu' }],
  ['run a --device cpu', settingsOf({ HALOGRID_GPU: 'all' }), { gpu: undefined, device: 'cpu' }],
  ['run a --pipeline p=lbp', settingsOf({ HALOGRID_OP: 'ldp' }), { op: undefined, pipeline: ['p=lbp'] }],
  ['run a', settingsOf({ HALOGRID_EVERY: '2' }, { folder: 'fps = 5' }), { every: 2, fps: undefined }],
  ['plan a', settingsOf({ HALOGRID_COORDINATOR: 'h:1' }), { coordinator: undefined }],
  ['jobs', settingsOf({ HALOGRID_TOKEN: 'x' }, { user: 'token-file = "t"' }), { tokenFile: undefined }],
  ['jobs --token-file u', settingsOf({ HALOGRID_TOKEN: 'x' }), { tokenFile: 'u' }],
  ['coordinator --ledger-file f', settingsOf({ HALOGRID_LEDGER: 'a' }), { ledger: undefined, ledgerFile: 'f' }],
  [
    'coordinator --own-token',
    settingsOf({ HALOGRID_LISTEN: '0.0.0.0:1', HALOGRID_TOKENS: 't' }),
    { listen: undefined, tokens: undefined },
  ],
];

for (const [line, settings, expected] of gone) {
  test(`'${line}' makes go what it excludes: ${JSON.stringify(expected)}`, async () => {
    const options = await optionsOf(line, settings);
    assert.deepEqual(Object.fromEntries(Object.keys(expected).map((key) => [key, options[key]])), expected);
  });
}

const refused: [line: string, settings: Settings, sentence: RegExp][] = [
  [
    'run a',
    settingsOf({ HALOGRID_NODES: 'two' }),
    /^HALOGRID_NODES: Expected a whole number from 1 to 64 for --nodes but received 'two'$/,
  ],
  [
    'run a',
    settingsOf({}, { user: '\n[run]\nnodes = "two"' }),
    /^user\.toml:3: Expected a whole number from 1 to 64 for --nodes but received 'two'$/,
  ],
  [
    'run a',
    settingsOf({}, { user: 'tile = [1, 2]' }),
    /^user\.toml:1: Expected one value for tile but received \[1,2\]$/,
  ],
  ['run a', settingsOf({}, { user: 'json = 1' }), /^user\.toml:1: Expected true or false for json but received 1$/],
  ['run a', settingsOf({ HALOGRID_FRESH: 'maybe' }), /^HALOGRID_FRESH: Expected true or false but received 'maybe'$/],
  ['run a', settingsOf({ HALOGRID_OP: `lbp 'ldp` }), /^HALOGRID_OP: Expected a quote at the end of 'ldp$/],
  [
    'run a --profile x',
    settingsOf({}, { user: '[profiles.lab]' }),
    /^Expected one of lab for --profile but received 'x'$/,
  ],
  [
    'run a',
    settingsOf({ HALOGRID_PROFILE: 'x' }),
    /^There is no profile for HALOGRID_PROFILE x: write \[profiles\.x\] into/,
  ],
  [
    'run a',
    settingsOf({}, { folder: 'coordinator = "h:1"' }),
    /^folder\.toml:1: Expected no coordinator in the file of a folder, because it says who is given the token; set it in/,
  ],
  [
    'run a --profile p',
    settingsOf({}, { folder: '[profiles.p]\ntoken-file = "x"' }),
    /^folder\.toml:2: Expected no token-file in the file of a folder/,
  ],
];

for (const [line, settings, sentence] of refused) {
  test(`'${line}': ${sentence.source}`, async () => {
    await assert.rejects(optionsOf(line, settings), { name: 'UsageError', message: sentence });
  });
}

test('config shows every option of every command that can be set', async () => {
  const settings = settingsOf({});
  const program = await createProgram(settings);
  for (const leaf of leavesOf(program)) {
    const shown = new Set(chooseSettings(leaf, settings).map(({ key }) => key));
    for (const option of settable(leaf))
      assert.ok(shown.has(settingKey(option)), `${commandPath(leaf).join(' ')} ${option.long}`);
  }
});

test('quoted words are split into the given words', () => {
  const word = fc.string({ minLength: 1 }).filter((text) => !/['"]/.test(text));
  fc.assert(
    fc.property(fc.array(word), (given) => {
      assert.deepEqual(words(given.map((text) => `'${text}'`).join(' ')), given);
    }),
  );
});

test('variables have the names of options', () => {
  assert.equal(variableOf('max-quarantined'), 'HALOGRID_MAX_QUARANTINED');
});
