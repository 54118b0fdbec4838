import assert from 'node:assert/strict';
import { copyFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { localVersion } from '../files/local-file.ts';
import { temporaryFolder } from '../testing/temporary-files.ts';
import type { Source } from './source.ts';
import { listSources } from './sources.ts';

const list = (path: string): Promise<Source[]> => Array.fromAsync(listSources(pathToFileURL(path).href));
const uriOf = (path: string): string => pathToFileURL(path).href;

test('a manifest of JSON lines states sizes and versions, and the files are not looked at', async (t) => {
  const folder = await temporaryFolder(t);
  writeFileSync(join(folder, 'plain.png'), 'abc');
  const path = join(folder, 'list.jsonl');
  const rows = [
    { path: 'sub/gone.png', size: 20, mtime: '1700000000.1234567890' },
    { path: 'a.png', size: 7 },
    { path: 'b.png', mtime: 1700000000.25 },
    { uri: 's3://bucket/key.jpg', size: 9, etag: '"abc"' },
    { uri: 'http://127.0.0.1:1/c.jpg', size: 12, version: 'W/"x" 12' },
    { path: 'plain.png', mtime: '1700000000' },
    { path: 'plain.png', note: 'nothing is stated', size: null },
  ];
  writeFileSync(path, `# frames\n${rows.map((row) => JSON.stringify(row)).join('\n')}\n`);
  const named = false;
  const isStated = true;
  assert.deepEqual(await list(path), [
    {
      uri: uriOf(join(folder, 'sub/gone.png')),
      name: 'sub/gone.png',
      named,
      sizeBytes: 20,
      version: '20 1700000000123.4568',
      isStated,
    },
    { uri: uriOf(join(folder, 'a.png')), name: 'a.png', named, sizeBytes: 7, version: 'size=7', isStated },
    { uri: uriOf(join(folder, 'b.png')), name: 'b.png', named, sizeBytes: 0, version: 'mtime=1700000000.25', isStated },
    { uri: 's3://bucket/key.jpg', name: 'key.jpg', named, sizeBytes: 9, version: 'etag=abc size=9', isStated },
    { uri: 'http://127.0.0.1:1/c.jpg', name: 'c.jpg', named, sizeBytes: 12, version: 'W/"x" 12', isStated },
    {
      uri: uriOf(join(folder, 'plain.png')),
      name: 'plain.png',
      named,
      sizeBytes: 3,
      version: 'mtime=1700000000',
      isStated,
    },
    {
      uri: uriOf(join(folder, 'plain.png')),
      name: 'plain.png',
      named,
      sizeBytes: 3,
      version: localVersion(statSync(join(folder, 'plain.png'))),
    },
  ]);
});

test('a row that is wrong is an input of its own, with a sentence', async (t) => {
  const path = join(await temporaryFolder(t), 'list.ndjson');
  const rows = [
    '{"path": "a.png", "size": -1}',
    '{"path": "a.png", "size": 1.5}',
    '{"path": "a.png", "size": "many"}',
    '{"size": 12}',
    '{"path": ""}',
    '{"path": ["a.png"]}',
    '{"path": "a.png", "mtime": "yesterday"}',
    '{"path": "a.png", "mtime": 1e300}',
    '{"path": "a.png", "etag": 7}',
    '{"path": "a.png", "version": "a\\nb"}',
    '["a.png"]',
    'a.png',
    '{"path": "a.png"',
  ];
  writeFileSync(path, rows.join('\n'));
  assert.deepEqual(
    (await list(path)).map(({ error }) => error),
    [
      "Line 1 of the manifest states the size '-1', which is not a number of bytes",
      "Line 2 of the manifest states the size '1.5', which is not a number of bytes",
      "Line 3 of the manifest states the size 'many', which is not a number of bytes",
      'Line 4 of the manifest has neither a path nor a uri',
      'Line 5 of the manifest has neither a path nor a uri',
      'Line 6 of the manifest has neither a path nor a uri',
      "Line 7 of the manifest states the mtime 'yesterday', which is not a number of seconds since 1970",
      "Line 8 of the manifest states the mtime '1e+300', which is not a number of seconds since 1970",
      "Line 9 of the manifest states the etag '7', which is not a text",
      "Line 10 of the manifest states the version 'a\nb', which is not a text",
      'Line 11 of the manifest is not a JSON object',
      'Line 12 of the manifest is not a JSON object',
      'Line 13 of the manifest is not a JSON object',
    ],
  );
});

const columns = {
  path: ['a.png', 'ü/b.png', 'c.png'],
  size: [5n, 6n, null],
  mtime: ['1700000000.123456789', null, null],
  etag: [null, 'x', null],
};

test('a manifest of Parquet is the same, over row groups and however it is compressed', async (t) => {
  const folder = await temporaryFolder(t);
  const path = join(folder, 'list.parquet');
  const types = { path: 'STRING', size: 'INT64', mtime: 'STRING', etag: 'STRING' } as const;
  for (const codec of ['UNCOMPRESSED', 'SNAPPY', 'GZIP'] as const) {
    const bytes = parquetWriteBuffer({
      columnData: Object.entries(columns).map(([name, data]) => ({
        name,
        data,
        type: types[name as keyof typeof types],
        nullable: true,
      })),
      rowGroupSize: 2,
      codec,
      compressors: { GZIP: (given: Uint8Array) => gzipSync(given) },
    });
    writeFileSync(path, new Uint8Array(bytes));
    const found = await list(path);
    assert.deepEqual(
      found.map(({ uri, sizeBytes, version }) => [uri, sizeBytes, version]),
      [
        [uriOf(join(folder, 'a.png')), 5, '5 1700000000123.4568'],
        [uriOf(join(folder, 'ü/b.png')), 6, 'etag=x size=6'],
        [uriOf(join(folder, 'c.png')), 0, undefined],
      ],
      codec,
    );
  }
});

test('fields of other fields are passed over, whatever their name', async (t) => {
  // By DuckDB: SELECT {'size': 5} meta, 'x/1.jpg' path
  const path = join(await temporaryFolder(t), 'list.parquet');
  copyFileSync(new URL('../../fixtures/nested-size.parquet', import.meta.url), path);
  assert.deepEqual(await list(path), [
    { uri: uriOf(join(dirname(path), 'x/1.jpg')), name: 'x/1.jpg', named: false, sizeBytes: 0 },
  ]);
});

test('a manifest whose only path is a field of another field has no path', async (t) => {
  const path = join(await temporaryFolder(t), 'list.parquet');
  const image = { name: 'image', repetition_type: 'REQUIRED' as const, num_children: 1 };
  const leaf = {
    name: 'path',
    type: 'BYTE_ARRAY' as const,
    converted_type: 'UTF8' as const,
    repetition_type: 'REQUIRED' as const,
  };
  const columnData = [{ name: 'image', data: [{ path: 'a.png' }] }];
  const bytes = parquetWriteBuffer({ columnData, schema: [{ name: 'root', num_children: 1 }, image, leaf] });
  writeFileSync(path, new Uint8Array(bytes));
  await assert.rejects(list(path), { message: /has neither a column 'path' nor 'uri'$/ });
});

test('a file that is not a manifest of Parquet, or has no names, is refused', async (t) => {
  const folder = await temporaryFolder(t);
  const path = join(folder, 'list.parquet');
  const refused = (message: RegExp) => assert.rejects(list(path), { name: 'SourceNotFoundError', message });
  for (const content of ['', 'PAR1', 'x'.repeat(500)]) {
    writeFileSync(path, content);
    await refused(/^The manifest '.*list\.parquet' cannot be read: /);
  }
  const bytes = new Uint8Array(parquetWriteBuffer({ columnData: [{ name: 'size', data: [1], type: 'INT32' }] }));
  writeFileSync(path, bytes);
  await refused(/has neither a column 'path' nor 'uri'$/);
  const named = new Uint8Array(parquetWriteBuffer({ columnData: [{ name: 'path', data: ['a.png'], type: 'STRING' }] }));
  for (let cut = 12; cut < named.length - 12; cut += 7) {
    writeFileSync(path, Buffer.concat([named.subarray(0, cut), named.subarray(cut + 7)]));
    await assert.rejects(list(path), { name: 'SourceNotFoundError' });
  }
});

test('a manifest of Parquet that is removed or cut while it is read ends the listing with a sentence', async (t) => {
  const path = join(await temporaryFolder(t), 'list.parquet');
  const names = Array.from({ length: 5000 }, (_, i) => `${i}.png`);
  const columnData = [
    { name: 'path', data: names, type: 'STRING' as const },
    { name: 'size', data: names.map(() => 9), type: 'INT32' as const },
  ];
  const bytes = new Uint8Array(parquetWriteBuffer({ columnData, rowGroupSize: 2000 }));
  for (const vanish of [() => rmSync(path), () => writeFileSync(path, bytes.subarray(0, 100))]) {
    writeFileSync(path, bytes);
    const sources = listSources(pathToFileURL(path).href)[Symbol.asyncIterator]();
    const first = await sources.next();
    assert.equal(first.value?.name, '0.png');
    vanish();
    const rest = async () => {
      while (!(await sources.next()).done);
    };
    await assert.rejects(rest, {
      name: 'SourceNotFoundError',
      message: /^The manifest '.*list\.parquet' cannot be read: /,
    });
  }
});
