// The Python package as pip installs it without a network; compares what it loads with other readers.
import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type FeatureShape, type FeatureSource, FeatureWriter, type FileLimits } from '@halogrid/results/features';
import { isThorough, repeated } from '@halogrid/testing';
import fc from 'fast-check';
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import type { ServingCluster } from './cluster.ts';
import { installPackage, lacksPython, pythonPackage, runPython } from './python.ts';
import { readChannels, readJson } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';
import { sharedCluster } from './shared-cluster.ts';

const checkout = fileURLToPath(new URL('..', import.meta.url));
const samples = join(checkout, 'samples');
const scratch = scratchFolder();
const skip = lacksPython('pip');
/** Whether NumPy is there, so that both readers can be tested: with NumPy, and with only the standard library. */
const hasNumpy = !lacksPython('numpy');
let path = '';
let cluster: ServingCluster;

before(async () => {
  if (skip) return;
  // From the packed sources, as from PyPI; pip makes and installs the same wheel of the folder in the checkout.
  const pack = ['-c', `import build_backend; print(build_backend.build_sdist(${JSON.stringify(scratch)}))`];
  const packed = await runPython(pack, { cwd: pythonPackage, path: pythonPackage });
  path = await installPackage(join(scratch, packed.stdout.trim()));
  cluster = await sharedCluster();
});
after(() => cluster?.stop());

test('its version and its sources are the same as in the checkout', { skip }, async () => {
  const { version } = readJson(checkout, 'package.json');
  const { stdout, stderr } = await runPython(['-c', 'import halogrid; print(halogrid.__version__)'], { path });
  assert.deepEqual([stdout, stderr], [`${version}\n`, '']);
  assert.ok(readdirSync(path).includes(`halogrid-${version}.dist-info`));
  assert.deepEqual(await runPython(['-m', 'compileall', '-q', join(path, 'halogrid')]).then(({ code }) => code), 0);

  const licence = (folder: string) => readFileSync(join(folder, 'LICENSE'), 'utf8');
  assert.equal(licence(pythonPackage), licence(checkout));

  const sources = (folder: string) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  const ours = (folder: string) => sources(folder).filter((name) => /^halogrid.*\.(py|typed)$/.test(name));
  assert.ok(ours(path).length > 15);
  const checkedOut = join(pythonPackage, 'src');
  assert.deepEqual(ours(checkedOut), ours(path));
  for (const name of ours(path)) assert.deepEqual(readFileSync(join(checkedOut, name)), readFileSync(join(path, name)));
});

test('its own tests pass', { skip }, async () => {
  const tests = ['-W', 'error', '-m', 'unittest', 'discover', '-s', join(pythonPackage, 'tests')];
  const { code, stderr } = await runPython(tests, { path });
  assert.equal(code, 0, stderr);
  assert.match(stderr, /Ran [1-9]\d+ tests/);
});

/** The rows as Python prints them. */
interface Rows {
  source: string[];
  name: string[];
  frame: number[];
  timestamp_ms: (number | null)[];
  captured_at: (number | null)[];
  camera: (string | null)[];
  cell: [number, number][];
  counted: number[];
  histogram: number[][];
  /** By column: those after the histogram. */
  statistics: Record<string, (number | null)[]>;
}

type Loaded =
  | { rows: Rows; channels: string[]; bins: number; shape: number[]; numpy: boolean }
  | { error: string; code: string };

/** The results of halogrid.load for each: with NumPy if it is installed, and in another process without it. */
async function load(asked: readonly [path: string, pipeline: string | null][]): Promise<Loaded[][]> {
  const input = asked.map((one) => `${JSON.stringify(one)}\n`).join('');
  const found: Loaded[][] = [];
  for (const flags of hasNumpy ? [[], ['-S']] : [['-S']]) {
    const script = join(pythonPackage, 'tests/dump_features.py');
    const { code, stdout, stderr } = await runPython([...flags, script], { path, input });
    assert.deepEqual([code, stderr], [0, '']);
    const loaded: Loaded[] = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    for (const one of loaded) if ('rows' in one) assert.equal(one.numpy, flags.length === 0);
    found.push(loaded);
  }
  return found;
}

/** The rows of a file as another reader finds them. */
async function expectedRows(file: string): Promise<Rows> {
  const rows = await parquetReadObjects({ file: await asyncBufferFromFile(file) });
  const column = (name: string) => rows.map((row) => row[name]);
  return {
    source: column('source'),
    name: column('name'),
    frame: column('frame'),
    timestamp_ms: column('timestamp_ms'),
    captured_at: column('captured_at').map((time: Date | null) => time?.getTime() ?? null),
    camera: column('camera'),
    cell: rows.map(({ cell_row, cell_col }) => [cell_row, cell_col]),
    counted: column('counted').map(Number),
    histogram: column('histogram').map((counts: Iterable<number | bigint>) => Array.from(counts, Number)),
    statistics: Object.fromEntries(
      Object.keys(rows[0]!)
        .filter((name) => /_\d+_\d+$/.test(name))
        .map((name) => [name, column(name)]),
    ),
  };
}

const int32 = fc.nat({ max: 2 ** 31 - 1 });
const shapes = fc.record({
  rows: fc.constantFrom(1, 1, 2),
  columns: fc.constantFrom(1, 1, 2),
  bins: fc.integer({ min: 1, max: 300 }),
  isWide: fc.boolean(),
});
const table = shapes.chain(({ rows, columns, bins, isWide }) => {
  const count = fc.oneof(fc.nat(9), int32, ...(isWide ? [fc.maxSafeNat()] : []));
  const facts = fc.record<Omit<FeatureSource, 'number'>>({
    source: fc.string({ unit: 'grapheme' }),
    name: fc.string({ unit: 'grapheme' }),
    frame: int32,
    timestampMs: fc.option(fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }), { nil: null }),
    capturedAtMs: fc.option(fc.integer({ min: -62135596800000, max: 253402300799999 }), { nil: null }),
    camera: fc.option(fc.string({ unit: 'grapheme' }), { nil: null }),
  });
  const histogram = fc.array(count, { minLength: bins, maxLength: bins });
  const cell = fc.record({ counted: fc.maxSafeNat(), histogram });
  const cells = fc.array(cell, { minLength: rows * columns, maxLength: rows * columns });
  // `step`: quarantined sources have numbers too, which then are missing here.
  const source = fc.record({ facts, cells, step: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 100 })) });
  const shape: FeatureShape = { grid: { rows, columns }, bins };
  return fc.record({ shape: fc.constant(shape), sources: fc.array(source, { minLength: 1, maxLength: 40 }) });
});
type Table = typeof table extends fc.Arbitrary<infer Value> ? Value : never;

async function write(file: string, { shape, sources }: Table, limits?: FileLimits): Promise<void> {
  const writer = await FeatureWriter.create(file, shape, limits);
  let number = -1;
  for (const { facts, cells, step } of sources) {
    number += step;
    await writer.add({ ...facts, number }, cells);
  }
  await writer.finish(number + 1);
}

test('any features.parquet is loaded as another reader finds it, and so is a folder of parts', { skip }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(table, { minLength: 1, maxLength: 12 }), async (tables) => {
      const folder = join(scratch, 'tables');
      mkdirSync(folder);
      try {
        for (const [i, one] of tables.entries()) {
          await write(join(folder, `${i}.parquet`), one);
          mkdirSync(join(folder, `${i}`));
          await write(join(folder, `${i}`, 'features.parquet'), one, { wholeCounts: 1, partCounts: 1 });
        }
        const paths = [...tables.keys()].flatMap((i) => [`${i}.parquet`, `${i}`]);
        const expected = await Promise.all([...tables.keys()].map((i) => expectedRows(join(folder, `${i}.parquet`))));
        for (const loaded of await load(paths.map((name) => [join(folder, name), null]))) {
          for (const [i, one] of loaded.entries()) {
            assert.ok('rows' in one, JSON.stringify(one));
            assert.deepEqual(one.rows, expected[i >> 1]);
          }
        }
      } finally {
        rmSync(folder, { recursive: true });
      }
    }),
    { numRuns: repeated(1, 10) },
  );
});

test('many row groups, some of them compressed, and statistics of matrices are loaded as another reader finds them; what cannot be loaded gives the reason', {
  skip,
}, async () => {
  const groups = join(scratch, 'groups.parquet');
  const many = Array.from({ length: 520 }, (_, frame) => {
    // Repetitive histograms are compressed; the others are not.
    const histogram = Array.from({ length: 1024 }, (_, bin) =>
      frame < 300 ? bin % 4 : (bin * frame * 2654435761) % 4099,
    );
    const times = { timestampMs: frame / 3, capturedAtMs: frame % 5 ? 1e12 + frame : null };
    const facts = { source: `file:///in/${frame}`, name: `${frame}`, frame, camera: null, ...times };
    return { facts, cells: [{ counted: 1, histogram }], step: 1 };
  });
  await write(groups, { shape: { grid: { rows: 1, columns: 1 }, bins: 1024 }, sources: many });
  assert.ok((await parquetMetadataAsync(await asyncBufferFromFile(groups))).row_groups.length > 2);

  const statistics = join(scratch, 'matrices.parquet');
  const matrices = { levels: 2, isSymmetric: false, names: ['1@0', '12@135'] };
  const few = Array.from({ length: 40 }, (_, frame) => {
    const facts = { source: `file:///in/${frame}`, name: `${frame}`, frame, camera: null };
    // The second matrix of some rows has no pairs, and so no statistics.
    const histogram = [frame, 1, 2, 3, ...(frame % 3 ? [1, frame, 0, 5] : [0, 0, 0, 0])];
    return {
      facts: { ...facts, timestampMs: null, capturedAtMs: null },
      cells: [{ counted: frame + 6, histogram }],
      step: 1,
    };
  });
  await write(statistics, { shape: { grid: { rows: 1, columns: 1 }, bins: 8, matrices }, sources: few });

  const expected = [await expectedRows(groups), await expectedRows(statistics)];
  assert.equal(Object.keys(expected[1]!.statistics).length, 14);
  assert.ok(Object.values(expected[1]!.statistics).flat().includes(null));
  const none = join(scratch, 'none');
  for (const [manyRows, fewRows, error] of await load([groups, statistics, none].map((path) => [path, null]))) {
    for (const [i, one] of [manyRows, fewRows].entries()) {
      assert.ok(one && 'rows' in one, JSON.stringify(one));
      assert.deepEqual(one.rows, expected[i]);
    }
    assert.deepEqual(error, { error: `The folder of results does not exist: '${none}'`, code: 'NOT_FOUND' });
  }
});

/**
 * Makes the sources of every job here: images, a broken one, and a recording and images by camera and time. Only one
 * recording, because decoding is most of what a job costs.
 */
function makeArchive(): string {
  const archive = join(scratch, 'archive');
  mkdirSync(archive);
  for (const name of ['cloth.jpg', 'trunk.pgm']) copyFileSync(join(samples, 'images', name), join(archive, name));
  writeFileSync(join(archive, 'broken.png'), 'no picture');
  for (const [file, from] of [
    ['door/20260302/070000.mp4', 'videos/cam1.mp4'],
    ['door/20260302/083000.jpg', 'images/cloth.jpg'],
    ['yard/20260302/070000.pgm', 'images/trunk.pgm'],
  ] as const) {
    mkdirSync(dirname(join(archive, file)), { recursive: true });
    copyFileSync(join(samples, from), join(archive, file));
  }
  return archive;
}

const job = fc.record({
  pipelines: fc.uniqueArray(fc.constantFrom('lbp', 'ldp:order=2', 'glcm:levels=8', 'conv:kernel=sobel,as=u8'), {
    minLength: 1,
    maxLength: 3,
  }),
  grid: fc.constantFrom('1x1', '2x3', '5x1'),
  every: fc.integer({ min: 10, max: 60 }),
  zone: fc.constantFrom('UTC', 'Europe/Berlin'),
});

test('outputs of jobs are loaded with the same values as in their JSON and by another reader', { skip }, async () => {
  const archive = makeArchive();
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(job, async ({ pipelines, grid, every, zone }) => {
      const out = join(scratch, `job ${runs++}`);
      const named = pipelines.map((op, i) => [`p${i}`, op] as const);
      const options = named.flatMap(([name, op]) => ['--pipeline', `${name}=${op}`]);
      const ops = pipelines.length > 1 ? options : ['--op', pipelines[0]!];
      const captured = ['--captured-from', '{camera}/%Y%m%d/%H%M%S', '--captured-zone', zone];
      const words = ['run', archive, ...ops, ...captured, '--grid', grid, '--every', String(every), '--out', out];
      const { code, stderr } = await cluster.halogrid(words);
      assert.equal(code, 3, stderr);
      const folders = pipelines.length > 1 ? named.map(([name]) => join(out, 'pipelines', name)) : [out];
      const asked = named.map(([name]): [string, string | null] => [out, pipelines.length > 1 ? name : null]);
      for (const loaded of await load(asked)) {
        for (const [i, one] of loaded.entries()) {
          assert.ok('rows' in one, JSON.stringify(one));
          assert.deepEqual(one.rows, await expectedRows(join(folders[i]!, 'features.parquet')));
          const { rows, channels, bins, shape } = one;
          assert.deepEqual(shape, [rows.source.length, channels.length * bins]);
          assert.deepEqual(new Set(rows.camera), new Set([null, 'door', 'yard']));
          const { counted, channels: counts } = readChannels(folders[i]!);
          assert.equal(
            rows.counted.reduce((sum, of) => sum + of, 0),
            counted,
          );
          const sums = Array.from({ length: shape[1]! }, (_, bin) =>
            rows.histogram.reduce((sum, row) => sum + row[bin]!, 0),
          );
          assert.deepEqual(
            sums,
            counts.flatMap((channel) => channel.bins),
          );
          assert.deepEqual(
            channels,
            counts.map(({ name }) => name),
          );
        }
      }
    }),
    { numRuns: repeated(1, 12) },
  );
});

test('a file that is damaged anywhere loads unchanged values, or gives an error of one sentence', {
  skip,
}, async () => {
  const ops = isThorough ? ['lbp:labels=uniform', 'ldp:order=2'] : ['lbp:labels=uniform'];
  const outs = ops.map((op, i) => [op, join(scratch, `whole ${i}`)] as const);
  for (const [op, out] of outs) {
    const source = join(samples, 'images/trunk.pgm');
    const { code, stderr } = await cluster.halogrid(['run', source, '--op', op, '--grid', '1x2', '--out', out]);
    assert.equal(code, 0, stderr);
  }
  const seed = Math.floor(Math.random() * 2 ** 32);
  const files = outs.map(([, out]) => join(out, 'features.parquet'));
  const script = join(pythonPackage, 'tests/damage.py');
  for (const flags of hasNumpy ? [[], ['-S']] : [['-S']]) {
    const words = [...flags, script, String(seed), isThorough ? '1' : '16', ...files];
    const { code, stderr } = await runPython(words, { path });
    assert.equal(code, 0, stderr);
  }
});

test('results from a coordinator are the same as in the folder, and refusals have code and field', {
  skip,
}, async () => {
  const out = join(scratch, 'over http');
  const script = `
import halogrid, json, sys
url, sources, out = sys.argv[1:]
coordinator = halogrid.connect(url)
job = coordinator.submit(sources, pipelines={"codes": "lbp", "edges": ["conv:kernel=sobel,as=u8", "lbp"]}, grid=(2, 2), out=out)
states = [job.state for status in job]
fetched, local = job.load("edges"), halogrid.load(out, "edges")
said = [states[-1], job.result()["digest"] == job.digest, fetched.matrix.tolist() == local.matrix.tolist()]
said.append(coordinator.job(job.id[-6:]).id == job.id and job.id in [one.id for one in coordinator.jobs(state="complete")])
refused = [
    lambda: coordinator.job("none such"),
    lambda: coordinator.submit("/none"),
    lambda: coordinator.plan(sources, op="lpb"),
    lambda: coordinator.submit(sources, grid={"rows": 2}),
    lambda: coordinator.submit(sources, verify_percent=101),
    lambda: job.load(),
    lambda: job.download("none.svg", out),
]
for call in refused:
    try:
        said.append(str(call()))
    except halogrid.Error as error:
        said.append([error.code, error.field])
print(json.dumps(said))
`;
  const words = ['-W', 'error', '-c', script, cluster.http, join(samples, 'images/trunk.pgm'), out];
  const { code, stdout, stderr } = await runPython(words, { path });
  assert.deepEqual([code, stderr], [0, '']);
  assert.deepEqual(JSON.parse(stdout), [
    ...['complete', true, true, true],
    ['NOT_FOUND', 'id'],
    ['NOT_FOUND', 'sources[0]'],
    ['INVALID_ARGUMENT', 'op[0]'],
    ['INVALID_ARGUMENT', 'grid'],
    ['INVALID_ARGUMENT', 'verify_percent'],
    ['INVALID_ARGUMENT', 'pipeline'],
    ['NOT_FOUND', 'name'],
  ]);
});
