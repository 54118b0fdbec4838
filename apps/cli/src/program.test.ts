import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { usageSentence } from './options/failure.ts';
import { createProgram, noSettings, runProgram } from './program.ts';
import { leavesOf, type SettingCommand } from './settings/setting-command.ts';

// A halogrid.toml of the user would change results.
process.env.XDG_CONFIG_HOME = '/dev/null';

afterEach(() => {
  process.exitCode = undefined;
});

const wrong: [string[], string][] = [
  [['frobnicate'], "halogrid: Unknown command 'frobnicate'"],
  [['noded'], "halogrid: Unknown command 'noded' (did you mean one of node, nodes?)"],
  [['run'], "halogrid: Missing required argument 'source', as in: halogrid run photos"],
  [['run', 'a.png', '--tile'], "halogrid: Missing value of option '--tile <px>'"],
  [['run', 'a.png', '--nodes', 'two'], "halogrid: Expected a whole number from 1 to 64 for --nodes but received 'two'"],
  [
    ['run', 'a.png', '--device', 'tpu'],
    "halogrid: Expected one of auto, gpu, software, cpu for --device but received 'tpu'",
  ],
  [['run', 'a.png', '--op', 'sift'], "halogrid: Expected one of lbp, ldp, conv, glcm for --op but received 'sift'"],
  [['run', 'a.jpg', '--decode', 'npu'], "halogrid: Expected one of auto, gpu, cpu for --decode but received 'npu'"],
  [
    ['bench', 'frames', '--decode', 'gpu,npu'],
    "halogrid: Expected some of auto, gpu, cpu, as in a,b, for --decode but received 'gpu,npu'",
  ],
  [
    ['run', 'a.png', '--coordinator', 'h:1', '--nodes', '2'],
    'halogrid: Expected none of --nodes, --device, --decode, --source-grace, --space-grace and --scratch with --coordinator: the cluster has its own',
  ],
  [['jobs', '--coordinator', 'here'], "halogrid: Expected HOST:PORT for --coordinator but received 'here'"],
  [['bench', 'kernels', '--device', 'cpu'], "halogrid: Expected one of gpu, software for --device but received 'cpu'"],
  [
    ['bench', 'kernels', '--repetitions', '0'],
    "halogrid: Expected a whole number from 1 to 1000 for --repetitions but received '0'",
  ],
  [['tune', '--device', 'cpu'], "halogrid: Expected one of gpu, software for --device but received 'cpu'"],
  [['tune', '--quick', '--forget'], 'halogrid: Expected --quick or --forget but received both'],
  [
    ['status'],
    "halogrid: Missing required argument 'job', as in: halogrid status 20260131-235959-0a1b2c; 'halogrid jobs' lists the jobs",
  ],
  [
    ['search', 'q.jpg'],
    "halogrid: Missing option '--index <dir>', as in: halogrid search query.jpg --index archive.index",
  ],
  [['bench', 'video'], "halogrid: Unknown command 'video'"],
  [['evaluate', 'faces', '--op'], "halogrid: Missing value of option '--op <name[:k=v,…]>'"],
  [['help', 'noded'], "halogrid: Unknown command 'noded' (did you mean one of node, nodes?)"],
  [['status', 'a', 'b'], "halogrid: Too many arguments for 'status': expected 1 argument but got 2"],
];

for (const [args, sentence] of wrong) {
  test(`halogrid ${args.join(' ')}: exit code 2 and "${sentence}"`, async (t) => {
    const printed = t.mock.method(console, 'error', () => {});
    await runProgram(args);
    assert.deepEqual(
      printed.mock.calls.map((call) => call.arguments),
      [[sentence]],
    );
    assert.equal(process.exitCode, 2);
  });
}

test('-v, version, -V and --version show the version', async (t) => {
  const printed = t.mock.method(process.stdout, 'write', () => true);
  for (const word of ['-v', 'version', '-V', '--version']) await runProgram([word]);
  const texts = printed.mock.calls.map(({ arguments: [text] }) => String(text));
  assert.equal(texts.length, 4);
  for (const text of texts) assert.match(text, /^\d+\.\d+\.\d+ \(results version \d+\)\n$/);
});

test('help says defaults in one form', async () => {
  const commands = (await createProgram(noSettings)).commands as SettingCommand[];
  const helps = commands.flatMap(leavesOf).map((command) => command.helpInformation());
  const defaults = helps.flatMap((help) => help.match(/\(default:\s[^)]*\)/g) ?? []);
  assert.ok(defaults.length > 50);
  for (const text of defaults) assert.doesNotMatch(text, /["[\]]/);
});

test('an address without an answer is reported in one sentence, with exit code 1', async (t) => {
  const printed = t.mock.method(console, 'error', () => {});
  // Port 9 is the discard service: nothing listens there.
  await runProgram(['jobs', '--coordinator', '127.0.0.1:9']);
  assert.deepEqual(printed.mock.calls[0]?.arguments, [
    "halogrid: No coordinator answers at 127.0.0.1:9: is one running there ('halogrid coordinator')?",
  ]);
  assert.equal(process.exitCode, 1);
});

test('the error about a missing coordinator says where jobs of run are', async (t) => {
  const printed = t.mock.method(console, 'error', () => {});
  await runProgram(['results', '20260131', '--coordinator', '127.0.0.1:9']);
  assert.match(
    printed.mock.calls[0]!.arguments[0],
    /\('halogrid coordinator'\)\? A job of 'halogrid run' is only in its output/,
  );
});

const table = [
  ["error: unknown option '--jsn'\n(Did you mean --json?)", "Unknown option '--jsn' (did you mean --json?)"],
  ["error: unknown option '--x'", "Unknown option '--x'"],
  ["error: missing required argument 'source'", "Missing required argument 'source'"],
  [
    "error: too many arguments for 'status'. Expected 1 argument but got 2.",
    "Too many arguments for 'status': expected 1 argument but got 2",
  ],
  [
    "error: unknown command 'nod'\n(Did you mean one of node, nodes?)",
    "Unknown command 'nod' (did you mean one of node, nodes?)",
  ],
] as const;

for (const [message, sentence] of table) test(sentence, () => assert.equal(usageSentence(message), sentence));
