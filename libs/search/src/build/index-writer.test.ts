import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { FeatureWriter } from '@halogrid/results/features';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { closeCatalog, openCatalog } from '../store/open-catalog.ts';
import { readFrame } from '../store/read-block.ts';
import { type MadeJob, madeBins, makeJob } from '../testing/make-job.ts';
import { temporaryFolder } from '../testing/temporary-folder.ts';
import { readFinishedJob } from './finished-job.ts';
import { IndexWriter } from './index-writer.ts';

test('an index has the frames of its jobs in their order, whatever was added, replaced, skipped and joined', async (t) => {
  const folder = await temporaryFolder(t);
  const index = join(folder, 'index');
  assert.deepEqual(await add(index, await job(folder, 'a', 3)), { outcome: 'added', frames: 3 });
  assert.deepEqual(await add(index, await job(folder, 'b', 2)), { outcome: 'added', frames: 2 });
  assert.deepEqual(await add(index, join(folder, 'a')), { outcome: 'skipped', frames: 3 });
  assert.deepEqual(await framesOf(index), ['a0', 'a1', 'a2', 'b0', 'b1']);
  // A copy of the folder, and a run of the same sources that came to the same.
  await cp(join(folder, 'b'), join(folder, 'copy'), { recursive: true });
  assert.equal((await add(index, join(folder, 'copy'))).outcome, 'skipped');
  assert.equal((await add(index, await job(folder, 'c', 2, { digest: 'digest of b' }, 'b'))).outcome, 'skipped');

  assert.deepEqual(await add(index, await job(folder, 'a', 4, { id: 'a again' })), { outcome: 'replaced', frames: 4 });
  const there = ['b0', 'b1', 'a0', 'a1', 'a2', 'a3'];
  assert.deepEqual(await framesOf(index), there);
  await change(index, (writer) => writer.compact());
  assert.deepEqual(await framesOf(index), there);
  assert.deepEqual((await readdir(index)).filter((name) => name.startsWith('segment-')).length, 2);
  // In a segment of several jobs, too.
  assert.deepEqual(await add(index, await job(folder, 'b', 1, { id: 'b again' })), { outcome: 'replaced', frames: 1 });
  assert.deepEqual(await framesOf(index), ['a0', 'a1', 'a2', 'a3', 'b0']);
});

test('an index has the same frames of features that are a folder', async (t) => {
  const folder = await temporaryFolder(t);
  // With 59 bins and 2049 cells, each frame is a row group.
  const grid = { rows: 3, columns: 683 };
  const empty = Array(grid.rows * grid.columns - 1).fill(new Uint8Array(madeBins));
  const frames = [...madeFrames('a', 3)].map((frame) => ({ ...frame, cells: [...frame.cells, ...empty] }));
  const file = await makeJob(join(folder, 'file'), frames, { grid });
  const parts = await makeJob(join(folder, 'parts'), frames, { grid, limits: { wholeCounts: 1, partCounts: 1 } });
  assert.equal((await readdir(join(parts, 'features.parquet'))).length, 3);
  await add(join(folder, 'of file'), file);
  await add(join(folder, 'of parts'), parts);
  assert.deepEqual(await framesOf(join(folder, 'of parts')), await framesOf(join(folder, 'of file')));
});

test('jobs of another pipeline are refused with all differences', async (t) => {
  const folder = await temporaryFolder(t);
  const index = join(folder, 'index');
  await add(index, await job(folder, 'a', 1));
  const other = await job(folder, 'b', 1, { convention: 'nw-cw-lsb', grid: { rows: 1, columns: 2 } });
  const sentence = `The job in 'file://${other}' was computed with another pipeline than the index '${index}': convention is nw-cw-lsb there and nw-cw-msb here; grid is 1x2 there and 1x1 here`;
  await assert.rejects(add(index, other), { message: sentence });
  await assert.rejects(
    add(index, await job(folder, 'c', 1, { state: 'running' })),
    /^Error: The job in '.*' is running: only a/,
  );
  await assert.rejects(add(index, folder), /is not the output of a job: its job.json cannot be read$/);
  assert.deepEqual(await framesOf(index), ['a0']);
});

test('features that are not what the job writes are refused, and the index stays as it was', async (t) => {
  const folder = await temporaryFolder(t);
  const index = join(folder, 'index');
  await add(index, await job(folder, 'a', 2));
  const out = await job(folder, 'b', 2);
  const features = join(out, 'features.parquet');
  const size = (await stat(features)).size;
  await truncate(features, size - 10);
  await assert.rejects(
    add(index, out),
    /^Error: '.*features.parquet' cannot be indexed, because it is cut, damaged or no Parquet \(.+\): copy the folder again .*, or run the job again with --fresh$/,
  );
  await writeFile(features, '');
  await assert.rejects(add(index, out), /because it is cut, damaged or no Parquet( \(.+\))?: /);
  const columns = [{ name: 'source', data: ['file:///b'], type: 'STRING' as const }];
  await writeFile(features, new Uint8Array(parquetWriteBuffer({ columnData: columns })));
  await assert.rejects(
    add(index, out),
    /because it lacks frame, timestamp_ms, cell_row, cell_col, counted, histogram: another version of halogrid or /,
  );
  await rm(features);
  await assert.rejects(
    add(index, out),
    /features.parquet' cannot be indexed, because it is not there: copy the folder again /,
  );
  const cells = await makeJob(join(folder, 'cells'), madeFrames('c', 3), { id: 'cells' });
  const text = JSON.parse(await readFile(join(cells, 'job.json'), 'utf8'));
  text.specification.grid = { rows: 1, columns: 2 };
  await writeFile(join(cells, 'job.json'), JSON.stringify(text));
  await assert.rejects(
    add(join(folder, 'other'), cells),
    /cells of frame 1 of 'file:\/\/\/c' are missing or in another order: copy the folder /,
  );
  const none = { timestampMs: null, capturedAtMs: null, camera: null };
  const writer = await FeatureWriter.create(features, { grid: { rows: 1, columns: 1 }, bins: madeBins });
  await writer.add({ number: 0, source: 'file:///d', name: 'd', frame: 7, ...none }, [
    { counted: 3, histogram: new Uint8Array(madeBins).fill(1, 0, 2) },
  ]);
  await writer.finish(1);
  await assert.rejects(
    add(index, out),
    /because it is damaged \(bins of frame 7 of 'file:\/\/\/d' do not add up to the pixels counted\)/,
  );
  assert.deepEqual(await framesOf(index), ['a0', 'a1']);
});

test('frames and cells that count no pixel are counted', async (t) => {
  const folder = await temporaryFolder(t);
  const [index, grid] = [join(folder, 'index'), { rows: 1, columns: 2 }];
  const [some, none] = [new Uint8Array(madeBins).fill(1), new Uint8Array(madeBins)];
  const frames = [
    [some, some],
    [some, none],
    [none, none],
  ].map((cells, frame) => {
    return { source: 'file:///a', frame, timestampMs: null, cells };
  });
  await add(index, await makeJob(join(folder, 'job'), frames, { grid }));
  const catalog = await openCatalog(index);
  t.after(() => closeCatalog(catalog));
  assert.deepEqual([catalog.countEmpty('frame'), catalog.countEmpty('cell')], [1, 3]);
});

test('nothing is added to an index that lacks a file, or has one that is torn', async (t) => {
  const folder = await temporaryFolder(t);
  const made = join(folder, 'made');
  await add(made, await job(folder, 'a', 3));
  const more = await job(folder, 'b', 2);
  const table: [string, (path: string) => Promise<void>, RegExp][] = [
    ['segment-000001.rows', rm, /^Error: '.*index' lacks a file that its manifest names: make the index again$/],
    ['segment-000001.rows', (path) => truncate(path, 20), /segment-000001.rows' is torn: it has 20 of \d+ bytes/],
    ['segment-000001.bins', (path) => truncate(path, 191), /segment-000001.bins' is torn: it has 191 of 192 bytes/],
  ];
  for (const [file, damage, sentence] of table) {
    const index = join(folder, 'index');
    await cp(made, index, { recursive: true });
    await damage(join(index, file));
    await assert.rejects(add(index, more), sentence);
    await rm(index, { recursive: true });
  }
});

test('a file that is torn or has changed is named, and nothing of it is used', async (t) => {
  const folder = await temporaryFolder(t);
  const made = join(folder, 'made');
  await add(made, await job(folder, 'a', 3));
  const table: [string, (bytes: Buffer) => Buffer, RegExp][] = [
    ['segment-000001.bins', (bytes) => bytes.subarray(1), /segment-000001.bins' is torn: it has 191 of 192 bytes/],
    ['segment-000001.bins', flipped(7), /segment-000001.bins' is torn or has changed since it was written/],
    ['segment-000001.rows', flipped(3), /segment-000001.rows' is torn or has changed since it was written/],
    ['segment-000001.rows', (bytes) => bytes.subarray(8), /segment-000001.rows' is torn or has changed/],
    ['manifest.json', (bytes) => bytes.subarray(0, 90), /manifest.json' is damaged: it is not JSON$/],
    [
      'manifest.json',
      (bytes) => Buffer.from(bytes.toString().replace('"frames": 3', '"frames": 2')),
      /manifest.json' has changed since/,
    ],
    [
      'manifest.json',
      (bytes) => Buffer.from(bytes.toString().replace('"version": 1', '"version": 9')),
      /is of format 9, and this halogrid knows format 1 alone$/,
    ],
    ['manifest.json', () => Buffer.from('[]'), /manifest.json' is not the manifest of an index$/],
  ];
  for (const [file, damage, sentence] of table) {
    const index = join(folder, 'index');
    await cp(made, index, { recursive: true });
    await writeFile(join(index, file), damage(await readFile(join(index, file))));
    await assert.rejects(framesOf(index), { name: 'Error', message: sentence });
    await rm(index, { recursive: true });
  }
  const index = join(folder, 'index');
  await cp(made, index, { recursive: true });
  await rm(join(index, 'segment-000001.rows'));
  await assert.rejects(framesOf(index), /lacks a file that its manifest names/);
  await assert.rejects(framesOf(join(folder, 'nowhere')), /^Error: There is no index in '.*nowhere'/);
});

test('one process writes to an index at a time, and one that was killed keeps nobody out', async (t) => {
  const folder = await temporaryFolder(t);
  const index = join(folder, 'index');
  const out = await job(folder, 'a', 2);
  const writer = await IndexWriter.open(index);
  await assert.rejects(IndexWriter.open(index), new RegExp(`is being written by process ${process.pid} of `));
  writer.close();
  const program = `import { IndexWriter } from '${fileURLToPath(new URL('./index-writer.ts', import.meta.url))}';
    await IndexWriter.open('${index}'); process.kill(process.pid, 'SIGKILL');`;
  assert.equal(spawnSync(process.execPath, ['--input-type=module', '--eval', program]).signal, 'SIGKILL');
  assert.equal((await add(index, out)).outcome, 'added');
});

test('wherever a writer dies, the index is the earlier or the new one', async (t) => {
  const folder = await temporaryFolder(t);
  const before = join(folder, 'before');
  await add(before, await job(folder, 'a', 2));
  const after = join(folder, 'after');
  await cp(before, after, { recursive: true });
  await add(after, await job(folder, 'a', 3, { id: 'a again' }));
  const [old, young] = await Promise.all(
    [before, after].map(
      async (index) =>
        new Map(
          await Promise.all(
            (await readdir(index)).map(async (name) => [name, await readFile(join(index, name))] as const),
          ),
        ),
    ),
  );
  // In the order in which the files are written; the last but one is half of the new manifest, under its other name.
  const written = ['segment-000002.bins', 'segment-000002.rows'].map((name) => [name, young!.get(name)!] as const);
  const manifest = young!.get('manifest.json')!;
  const steps = [
    ...written,
    ['manifest.json.x.tmp', manifest.subarray(0, 100)] as const,
    ['manifest.json', manifest] as const,
  ];
  for (let done = 0; done <= steps.length; done++) {
    const index = join(folder, `died-${done}`);
    await cp(before, index, { recursive: true });
    for (const [name, bytes] of steps.slice(0, done)) await writeFile(join(index, name), bytes);
    if (done > 0 && done < steps.length) await writeFile(join(index, steps[done]![0]), steps[done]![1].subarray(0, 5));
    if (done === steps.length - 1) await writeFile(join(index, 'manifest.json'), old!.get('manifest.json')!);
    assert.deepEqual(await framesOf(index), done === steps.length ? ['a0', 'a1', 'a2'] : ['a0', 'a1']);
    // The next writer finds its way, and leaves nothing of the one that died.
    await add(index, await job(folder, 'z', 1));
    const expected = [...(done === steps.length ? ['a0', 'a1', 'a2'] : ['a0', 'a1']), 'z0'];
    assert.deepEqual(await framesOf(index), expected);
    const names = (await readdir(index)).filter((name) => name.startsWith('segment-') || name.endsWith('.tmp'));
    assert.equal(names.length, 4, names.join(' '));
  }
});

test('a reader of an index that is being changed reads it as it was', async (t) => {
  const folder = await temporaryFolder(t);
  const index = join(folder, 'index');
  await add(index, await job(folder, 'a', 2));
  const catalog = await openCatalog(index);
  await add(index, await job(folder, 'a', 1, { id: 'a again' }));
  assert.equal(readFrame(catalog, 1)[1], 1);
  assert.equal(catalog.frames, 2);
  closeCatalog(catalog);
  assert.deepEqual(await framesOf(index), ['a0']);
});

function* madeFrames(name: string, count: number) {
  for (let frame = 0; frame < count; frame++) {
    const cells = [Array.from({ length: madeBins }, (_, bin) => (bin === frame ? 1 : 0))];
    yield { source: `file:///${name}`, frame, timestampMs: frame * 40, cells };
  }
}

/** The output of a job of that many frames, in a folder of that name. */
function job(folder: string, name: string, frames: number, made: MadeJob = {}, sources = name): Promise<string> {
  const cells = (made.grid?.columns ?? 1) * (made.grid?.rows ?? 1);
  const rows = [...madeFrames(name, frames)].map((row) => ({ ...row, cells: Array(cells).fill(row.cells[0]!) }));
  return makeJob(join(folder, name), rows, { id: name, sources: [sources], ...made });
}

async function change<T>(index: string, act: (writer: IndexWriter) => Promise<T>): Promise<T> {
  const writer = await IndexWriter.open(index);
  try {
    return await act(writer);
  } finally {
    writer.close();
  }
}

const add = (index: string, out: string) => change(index, async (writer) => writer.add(await readFinishedJob(out)));

/** The frames as `SOURCE FRAME`; each is checked to have the histogram that it came with. */
async function framesOf(index: string): Promise<string[]> {
  const catalog = await openCatalog(index);
  try {
    return Array.from({ length: catalog.frames }, (_, row) => {
      const { uri, frame, counted, timestampMs } = catalog.describe(row);
      assert.deepEqual([readFrame(catalog, row)[frame], counted, timestampMs], [1, 1, frame * 40]);
      return `${uri.slice('file:///'.length)}${frame}`;
    });
  } finally {
    closeCatalog(catalog);
  }
}

const flipped =
  (at: number) =>
  (bytes: Buffer): Buffer => {
    const changed = Buffer.from(bytes);
    changed[at]! ^= 1;
    return changed;
  };
