import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { credentials, type ServiceError, status } from '@grpc/grpc-js';
import { JobSpec, JobsClient } from '@halogrid/proto';
import { runCommand } from '../apps/cli/src/library/read-run.ts';
import type { RunOptions } from '../apps/cli/src/library/run-options.ts';
import { connect, type HalogridError, run } from '../apps/cli/src/library.ts';
import { failureOf } from '../apps/cli/src/options/failure.ts';
import { parseJob } from '../apps/cli/src/options/job-options.ts';
import type { ServingCluster } from './cluster.ts';
import { command } from './command.ts';
import { lacksPython, pythonPackage, runPython } from './python.ts';
import { sharedCluster } from './shared-cluster.ts';

// Each interface reports a wrong field of a job by the name that its callers use.

const frames = fileURLToPath(new URL('../samples/frames', import.meta.url));

/** A wrong value of a field of JobSpec, as each interface takes it, with the interface's name for it. */
interface Wrong {
  /** As JSON of JobSpec, and the name of its field in .proto files. */
  spec: Record<string, unknown>;
  field: string;
  /** Arguments of Python's `submit`, if they differ from the fields of `spec`, and the name of the argument. */
  python?: Record<string, unknown>;
  argument?: string;
  /** Arguments of the command line, and the option. */
  words?: string[];
  option?: string;
  /** Options of `run` in TypeScript, and the option. */
  run?: Record<string, unknown>;
  name?: string;
  /** Whether only JSON can hold the value, not a protobuf message. */
  isJsonAlone?: boolean;
}

const table: Wrong[] = [
  {
    spec: { sources: ['ftp://h/a.png'] },
    field: 'sources[0]',
    words: ['ftp://h/a.png'],
    option: 'SOURCE 1',
    run: { sources: 'ftp://h/a.png' },
    name: 'sources[0]',
  },
  { spec: { sources: [] }, field: 'sources', run: { sources: [] }, name: 'sources' },
  {
    spec: { op: ['lpb'] },
    field: 'op[0]',
    words: ['--op', 'lpb'],
    option: '--op',
    run: { op: 'lpb' },
    name: 'op',
  },
  {
    spec: { op: ['lbp', 'lbp:radius=99'] },
    field: 'op[1]',
    words: ['--op', 'lbp:radius=99'],
    option: '--op',
    run: { op: 'lbp:radius=99' },
    name: 'op',
  },
  {
    spec: { pipeline: { operations: [{ kernel: 'lpb', parameters: {}, border: '' }] } },
    field: 'pipeline.operations[0]',
  },
  { spec: { op: ['lbp'], pipeline: { operations: [] } }, field: 'op' },
  {
    spec: { pipelines: { named: [{ name: 'a', op: ['lbp:x=1'] }] } },
    field: 'pipelines.named[0].op[0]',
    python: { pipelines: { a: 'lbp:x=1' } },
    argument: 'pipelines',
    words: ['--pipeline', 'a=lbp:x=1'],
    option: '--pipeline',
    run: { pipelines: { a: 'lbp:x=1' } },
    name: 'pipelines',
  },
  {
    spec: { pipelines: { named: [{ name: '/', op: ['lbp'] }] } },
    field: 'pipelines.named[0].name',
    python: { pipelines: { '/': 'lbp' } },
    argument: 'pipelines',
    words: ['--pipeline', '/=lbp'],
    option: '--pipeline',
    run: { pipelines: { '/': 'lbp' } },
    name: 'pipelines',
  },
  {
    spec: { out: 's3://b/x' },
    field: 'out',
    words: ['--out', 's3://b/x'],
    option: '--out',
    run: { out: 's3://b/x' },
    name: 'out',
  },
  {
    spec: { mapFormat: 'gif' },
    field: 'map_format',
    words: ['--map', 'gif'],
    option: '--map',
    run: { map: 'gif' },
    name: 'map',
  },
  {
    spec: { mapFormat: 'png', op: ['ldp'] },
    field: 'map_format',
    words: ['--map', 'png', '--op', 'ldp'],
    option: '--map',
    run: { map: 'png', op: 'ldp' },
    name: 'map',
  },
  {
    spec: { tilePx: 99_999 },
    field: 'tile_px',
    words: ['--tile', '99999'],
    option: '--tile',
    run: { tile: Number.NaN },
    name: 'tile',
  },
  {
    spec: { batchFrames: 2 ** 31 },
    field: 'batch_frames',
    words: ['--batch', '-1'],
    option: '--batch',
    run: { batch: -1 },
    name: 'batch',
  },
  {
    spec: { grid: { rows: 10_000, columns: 10_000 } },
    field: 'grid',
    words: ['--grid', '9999x9999'],
    option: '--grid',
    run: { grid: { rows: 9999, columns: 9999 } },
    name: 'grid',
  },
  {
    spec: { grid: { rows: -1 } },
    field: 'grid.rows',
    isJsonAlone: true,
    python: { grid: [-1, 2] },
    argument: 'grid',
    words: ['--grid', '-1x2'],
    option: '--grid',
    run: { grid: { rows: -1, columns: 2 } },
    name: 'grid',
  },
  {
    spec: { priority: 101 },
    field: 'priority',
    words: ['--priority', '101'],
    option: '--priority',
    run: { priority: null },
    name: 'priority',
  },
  {
    spec: { verifyPercent: 101 },
    field: 'verify_percent',
    words: ['--verify', '101'],
    option: '--verify',
    run: { verify: 1e300 },
    name: 'verify',
  },
  {
    spec: { verifyPercent: 1, op: ['conv:kernel=sobel'] },
    field: 'verify_percent',
    words: ['--verify', '1', '--op', 'conv:kernel=sobel'],
    option: '--verify',
    run: { verify: 1, op: 'conv:kernel=sobel' },
    name: 'verify',
  },
  {
    spec: { video: { every: 2 ** 31 } },
    field: 'video.every',
    words: ['--every', '0'],
    option: '--every',
    run: { every: 0 },
    name: 'every',
  },
  { spec: { video: { every: 2 } }, field: 'video.every' },
  {
    spec: { video: { fromMs: 5, toMs: 4 } },
    field: 'video.to_ms',
    words: ['--from', '5', '--to', '4'],
    option: '--to',
    run: { from: 5, to: 4 },
    name: 'to',
  },
  {
    spec: { video: { fpsNum: 5 } },
    field: 'video.fps_num',
    words: ['--fps', '5/0'],
    option: '--fps',
    run: { fps: -5 },
    name: 'fps',
  },
  {
    spec: { video: { every: 2, fpsNum: 5, fpsDen: 1 } },
    field: 'video.every',
    words: ['--every', '2', '--fps', '5'],
    option: '--every',
    run: { every: 2, fps: 5 },
    name: 'every',
  },
  {
    spec: { video: { hwaccel: 'x' } },
    field: 'video.hwaccel',
    words: ['--hwaccel', 'x'],
    option: '--hwaccel',
    run: { hwaccel: 'x' },
    name: 'hwaccel',
  },
  ...['checksum', 'fresh', 'waitForNode'].map((name) => {
    const field = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    return { spec: { [name]: 'yes' }, field, isJsonAlone: true, run: { [name]: 'yes' }, name };
  }),
  {
    spec: { maxQuarantined: { percent: 101 } },
    field: 'max_quarantined.percent',
    words: ['--max-quarantined', '101%'],
    option: '--max-quarantined',
    run: { maxQuarantined: '101%' },
    name: 'maxQuarantined',
  },
  {
    spec: { level: 'big' },
    field: 'level',
    words: ['--level', 'big'],
    option: '--level',
    run: { level: 'big' },
    name: 'level',
  },
  {
    spec: { page: 65_536 },
    field: 'page',
    words: ['--page', '65536'],
    option: '--page',
    run: { page: 65_536 },
    name: 'page',
  },
  {
    spec: { band: { numbers: [0] } },
    field: 'band.numbers',
    words: ['--band', '0'],
    option: '--band',
    run: { band: 0 },
    name: 'band',
  },
  {
    spec: { scale: { min: 1, max: 0, bits: 8 } },
    field: 'scale',
    words: ['--scale', '1,0'],
    option: '--scale',
    run: { scale: '1,0' },
    name: 'scale',
  },
  { spec: { maxQuarantined: {} }, field: 'max_quarantined' },
  { spec: { share: { number: 1, of: 2 } }, field: 'share' },
  {
    spec: { captured: { from: '%Q', zone: '' } },
    field: 'captured.from',
    words: ['--captured-from', '%Q'],
    option: '--captured-from',
    run: { capturedFrom: '%Q' },
    name: 'capturedFrom',
  },
  {
    spec: { captured: { from: '', zone: 'x' } },
    field: 'captured.zone',
    words: ['--captured-zone', 'x'],
    option: '--captured-zone',
    run: { capturedZone: 'x' },
    name: 'capturedZone',
  },
  ...['include', 'exclude'].map((name) => ({
    spec: { filter: { [name]: ['*.png', '../x'] } },
    field: `filter.${name}[1]`,
    words: ['--include', '*', `--${name}`, '../x'],
    option: `--${name}`,
    run: { [name]: '../x' },
    name,
  })),
  ...[
    ['column', 'a\nb'],
    ['nodata', 'zero'],
    ['mask', 'http://host/masks'],
  ].map(([name, value]) => ({
    spec: { [name!]: value },
    field: name!,
    words: [`--${name}`, value!],
    option: `--${name}`,
    run: { [name!]: value },
    name: name!,
  })),
  {
    spec: { captured: { from: 'mtime', zone: '' }, checksum: true },
    field: 'captured.from',
    words: ['--captured-from', 'mtime', '--checksum'],
    option: '--captured-from',
    run: { capturedFrom: 'mtime', checksum: true },
    name: 'capturedFrom',
  },
];

const camel = (field: string): string => field.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
const snake = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(
        Object.entries(value).map(([name, of]) => [name.replaceAll(/[A-Z]/g, (a) => `_${a.toLowerCase()}`), snake(of)]),
      )
    : value;
const argumentOf = ({ argument, field }: Wrong): string => argument ?? field;

/** An error as a caller receives it. */
interface Told {
  message: string;
  field: string | undefined;
}

/** Checks that an error has the name of its own interface, and no name of another. */
function check(door: string, wrong: Wrong, own: string, { message, field }: Told): void {
  const told = `${door}: ${JSON.stringify(wrong.spec)}: ${field}: ${message}`;
  assert.equal(field, own, told);
  // A sentence about a source contains its path instead of the field.
  if (!/sources\[|SOURCE /.test(own)) assert.ok(message.includes(own), told);
  if (door !== 'command line') assert.doesNotMatch(message, /(?<![\w'-])--[a-z]|SOURCE/, told);
  const others = [wrong.field, camel(wrong.field), argumentOf(wrong), wrong.option, wrong.name];
  for (const other of others) {
    const isTelling = other !== undefined && /[_A-Z.]|--/.test(other) && !own.includes(other);
    if (isTelling) assert.ok(!message.includes(other), `${told} names ${other}`);
  }
}

let cluster: ServingCluster;
before(async () => {
  cluster = await sharedCluster();
});
after(() => cluster?.stop());

const whole = ({ spec }: Wrong): Record<string, unknown> => ({ sources: [frames], ...spec });
const errorOf = (promise: Promise<unknown>): Promise<HalogridError> =>
  promise.then(
    () => assert.fail(),
    (error) => error,
  );

test('the table has every field of a specification', () => {
  const fields = new Set(table.flatMap(({ spec }) => Object.keys(spec)));
  const { border: _, ...all } = { ...JobSpec.fromPartial({}), border: undefined };
  const optional = [
    'pipelines',
    'video',
    'checksum',
    'fresh',
    'maxQuarantined',
    'waitForNode',
    'captured',
    'filter',
    'priority',
    'verifyPercent',
    'level',
    'page',
    'band',
    'scale',
  ];
  assert.deepEqual([...fields].sort(), [...new Set([...Object.keys(all), ...optional])].sort());
});

test('HTTP, and TypeScript by it: fields of JSON', async () => {
  const client = connect(cluster.http as `http://${string}`);
  for (const wrong of table) {
    const init = {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(whole(wrong)),
    };
    for (const path of ['jobs', 'plan']) {
      const response = await fetch(`${cluster.http}/api/v1/${path}`, init);
      const { error, field, parts } = (await response.json()) as { error: string; field?: string; parts: string[] };
      check('HTTP', wrong, camel(wrong.field), { message: error, field });
      assert.equal(parts.join(''), error);
    }
    check('HTTP client', wrong, camel(wrong.field), await errorOf(client.submit(whole(wrong) as never)));
  }
});

test('gRPC: fields of the .proto files, and TypeScript over gRPC: its fields', async (t) => {
  const jobs = new JobsClient(cluster.address, credentials.createInsecure());
  t.after(() => jobs.close());
  const client = connect(cluster.address);
  t.after(() => client.close());
  for (const wrong of table.filter(({ isJsonAlone }) => !isJsonAlone)) {
    const { maxQuarantined, ...spec } = whole(wrong);
    const [$case, value] = Object.entries(maxQuarantined ?? {})[0] ?? [];
    const limit = $case && { $case, value };
    const message = JobSpec.fromPartial({
      ...spec,
      ...(maxQuarantined !== undefined && { maxQuarantined: { limit } }),
    } as never);
    const error = await new Promise<ServiceError>((resolve, reject) => {
      jobs.submit({ spec: message, nameOutByJob: false }, (failed) =>
        failed ? resolve(failed) : reject(new Error('accepted')),
      );
    });
    assert.equal(error.code, status.INVALID_ARGUMENT);
    const field = String(error.metadata.get('halogrid-field')[0]);
    check('gRPC', wrong, wrong.field, { message: error.details, field });
    if (maxQuarantined !== undefined && limit === undefined) continue;
    check('gRPC client', wrong, camel(wrong.field), await errorOf(client.submit(whole(wrong) as never)));
  }
});

test('the command line: options', () => {
  for (const wrong of table) {
    if (!wrong.words) continue;
    const hasSource = wrong.option?.startsWith('SOURCE');
    try {
      const command = runCommand().parse([...wrong.words, ...(hasSource ? [] : [frames])], { from: 'user' });
      parseJob(command.args, command.opts(), '/');
      assert.fail(`${wrong.words.join(' ')} is accepted`);
    } catch (error) {
      const { sentence, field, code } = failureOf(error);
      assert.equal(code, 'INVALID_ARGUMENT', String(sentence));
      check('command line', wrong, wrong.option!, { message: String(sentence), field });
    }
  }
});

test('a refusal by a coordinator has the options of the typed command', async () => {
  const { code, stdout, stderr } = await cluster.halogrid(['submit', frames, '--every', '2', '--json']);
  assert.equal(code, 2);
  const sentence = 'Expected a video among the sources, because --every is for videos, but received images alone';
  assert.equal(stderr, `halogrid: ${sentence}\n`);
  const { parts: _, ...told } = JSON.parse(stdout);
  assert.deepEqual(told, { error: sentence, code: 'INVALID_ARGUMENT', field: '--every' });
});

test('all interfaces refuse a missing source with the same code', async () => {
  const missing = join(frames, 'none.pgm');
  const runs = [
    command(['run', missing, '--json']),
    command(['plan', missing, '--json']),
    cluster.halogrid(['run', missing, '--json']),
    cluster.halogrid(['submit', missing, '--json']),
  ];
  for (const { code, stdout } of await Promise.all(runs)) {
    const told = JSON.parse(stdout);
    assert.deepEqual([code, told.code, told.field], [2, 'NOT_FOUND', 'SOURCE 1']);
  }
  const error = await errorOf(run({ sources: missing }));
  assert.deepEqual([error.code, error.field], ['NOT_FOUND', 'sources[0]']);
});

test('run of TypeScript: its options', async () => {
  for (const wrong of table) {
    if (!wrong.run) continue;
    const error = await errorOf(run({ sources: frames, ...wrong.run } as RunOptions));
    assert.equal(error.code, 'INVALID_ARGUMENT');
    check('run', wrong, wrong.name!, error);
  }
});

test('Python: its arguments', { skip: lacksPython() }, async () => {
  const script = `
import halogrid, json, sys
coordinator = halogrid.connect(sys.argv[1])
for given in json.load(sys.stdin):
    try:
        coordinator.submit(**given)
    except halogrid.Error as error:
        print(json.dumps({"message": str(error), "field": error.field, "code": error.code}))
`;
  const given = table.map(({ spec, python }) => ({ sources: [frames], ...(python ?? (snake(spec) as object)) }));
  for (const one of given as { grid?: unknown }[]) {
    if (one.grid && !Array.isArray(one.grid)) one.grid = Object.values(one.grid);
  }
  const path = join(pythonPackage, 'src');
  const { stdout, stderr } = await runPython(['-c', script, cluster.http], { path, input: JSON.stringify(given) });
  const told = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.equal(told.length, table.length, stderr);
  for (const [i, wrong] of table.entries()) {
    assert.equal(told[i].code, 'INVALID_ARGUMENT');
    check('Python', wrong, argumentOf(wrong), told[i]);
  }
});
