// The Python examples in docs/python.md and docs/api.md, and the cells of docs/notebook.ipynb, run one after another as
// they stand there.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { DuckDBInstance } from '@duckdb/node-api';
import type { ServingCluster } from './cluster.ts';
import { lacksPython, pythonPackage, runPython } from './python.ts';
import { scratchFolder } from './scratch-folder.ts';
import { sharedCluster } from './shared-cluster.ts';

const checkout = fileURLToPath(new URL('..', import.meta.url));
const skip = lacksPython('pip', 'numpy', 'pandas', 'sklearn');
/** Whether examples that need modules which Debian lacks run too. */
const hasAll = !lacksPython('duckdb', 'pyarrow');
let cluster: ServingCluster;

const outputs = join(checkout, 'halogrid-out');
/** Folders that the examples write, except folders that existed before. */
const written = ['python', 'notebook'].map((name) => join(outputs, name)).filter((folder) => !existsSync(folder));

before(async () => {
  if (skip) return;
  cluster = await sharedCluster();
});
after(async () => {
  for (const folder of written) rmSync(folder, { recursive: true, force: true });
  if (existsSync(outputs) && readdirSync(outputs).length === 0) rmSync(outputs, { recursive: true });
  await cluster?.stop();
});

interface Notebook {
  cells: (readonly [name: string, code: string])[];
  /** Python, for the state afterwards. */
  expressions: string[];
}

/**
 * Executes notebooks in the root of the checkout, all in one process, because importing pandas takes a second. Resolves
 * with the values of their expressions.
 */
async function execute(...notebooks: readonly Notebook[]) {
  const { code, stdout, stderr } = await runPython([join(pythonPackage, 'tests/run_cells.py')], {
    // python.test.ts shows that an installed package has the same sources.
    path: join(pythonPackage, 'src'),
    cwd: checkout,
    input: JSON.stringify(notebooks),
    env: { HALOGRID_URL: cluster.http, HALOGRID_BIN: join(checkout, 'apps/cli/bin/halogrid.mjs') },
  });
  assert.equal(code, 0, stderr);
  return stdout
    .trimEnd()
    .split('\n')
    .slice(-notebooks.length)
    .map((line) => JSON.parse(line));
}

function examples(): Notebook {
  const page = readFileSync(join(checkout, 'docs/python.md'), 'utf8');
  const blocks = [...page.matchAll(/^```(python|py)\n(.*?)^```$/gms)];
  const cells = blocks
    .filter(([, kind]) => kind === 'python' || hasAll)
    .map(([, , code], i) => [`docs/python.md, example ${i}`, code!] as const);
  assert.ok(cells.length >= 5);
  return { cells, expressions: ['shares.sum(axis=1).tolist()', 'features.matrix.shape'] };
}

function exampleOfApi(): Notebook {
  const page = readFileSync(join(checkout, 'docs/api.md'), 'utf8');
  const code = /^```python\n(.*?)^```$/ms
    .exec(page)![1]!
    .replaceAll('http://127.0.0.1:9464', cluster.http)
    .replaceAll('/data/frames', join(checkout, 'samples/frames'))
    .replaceAll('/data/out', scratchFolder());
  return { cells: [['docs/api.md', code]], expressions: ['job.state', 'job.load().matrix.shape'] };
}

interface Cell {
  cell_type: 'code' | 'markdown';
  id: string;
  metadata: { tags?: string[] };
  source: string[];
  outputs?: unknown[];
}

function notebook(): Notebook {
  const { cells, nbformat } = JSON.parse(readFileSync(join(checkout, 'docs/notebook.ipynb'), 'utf8'));
  assert.equal(nbformat, 4);
  const codes = (cells as Cell[]).filter(({ cell_type }) => cell_type === 'code');
  for (const { outputs } of codes) assert.deepEqual(outputs, []);
  const executed = codes.filter(({ metadata }) => hasAll || !metadata.tags?.includes('duckdb'));
  // The runs of docs/python.md have their own nodes; these need not.
  const onCluster = `import os\nos.environ["HALOGRID_COORDINATOR"] = "${cluster.address}"`;
  return {
    cells: [
      ['setting', onCluster],
      ...executed.map(({ id, source }) => [`docs/notebook.ipynb, ${id}`, source.join('')] as const),
    ],
    expressions: [
      'accuracy',
      '[[camera, str(hour)[:19], *of] for (camera, hour), of in zip(by_hour.index, by_hour.values.tolist())]',
      'query',
    ],
  };
}

test('the examples of docs/python.md and docs/api.md, the cells of the notebook, and its SQL', { skip }, async () => {
  const [ofPython, ofApi, ofNotebook] = await execute(examples(), exampleOfApi(), notebook());

  const [shares, shape] = ofPython;
  assert.equal(shares.length, 24 * 6);
  for (const share of shares) assert.ok(Math.abs(share - 1) < 1e-9);
  assert.deepEqual(shape, [24, 1024]);

  assert.deepEqual(ofApi, ['complete', [24, 10]]);

  const [accuracy, byHour, query] = ofNotebook;
  assert.ok(accuracy > 0.9, `${accuracy} of the cells are told apart`);
  const database = await DuckDBInstance.create(':memory:');
  const connection = await database.connect();
  await connection.run(`SET file_search_path = '${checkout}'`);
  const rows = (await connection.runAndReadAll(query)).getRowsJson();
  assert.equal(rows.length, 3);
  for (const [i, [camera, hour, frames, share]] of rows.entries()) {
    const [otherCamera, otherHour, count, mean] = byHour[i];
    assert.deepEqual([camera, hour, Number(frames)], [otherCamera, otherHour, count]);
    assert.ok(Math.abs(Number(share) - mean) < 1e-9);
  }
  connection.closeSync();
  database.closeSync();
});
