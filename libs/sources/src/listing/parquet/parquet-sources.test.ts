import assert from 'node:assert/strict';
import { mkdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { openInputFile } from '../../files/input-file.ts';
import { localVersion } from '../../files/local-file.ts';
import { versionOfContent } from '../../files/show-file.ts';
import type { PassedOver } from '../../globs/selection.ts';
import { type ParquetForm, type ParquetImage, parquetOf } from '../../testing/parquet-files.ts';
import { sendFile, startServer } from '../../testing/servers.ts';
import { temporaryFolder } from '../../testing/temporary-files.ts';
import type { Source } from '../source.ts';
import { type ListOptions, listAllSources } from '../sources.ts';

// hyparquet-writer makes the files, which have some kB: a second in all.

async function list(uri: string, options: ListOptions = {}): Promise<{ sources: Source[]; passed: string[] }> {
  const passed: string[] = [];
  const onPassedOver = ({ path, isFiltered }: PassedOver): void => {
    passed.push(path.split('/').slice(-2).join('/') + (isFiltered ? ' by the filter' : ''));
  };
  const sources = (await Array.fromAsync(listAllSources([uri], { onPassedOver, ...options }))).flat();
  return { sources, passed: passed.sort() };
}

async function contentOf({ uri }: Source): Promise<Buffer> {
  const file = await openInputFile(uri);
  try {
    return Buffer.from(await file.readAll());
  } finally {
    await file.close();
  }
}

const image = (text: string): Uint8Array => new Uint8Array(Buffer.from(text));
const images = (count: number): ParquetImage[] =>
  Array.from({ length: count }, (_, i) => ({ bytes: image(`image ${i} `.repeat(1 + (i % 9))), path: `cam/${i}.jpg` }));
const namesOf = (sources: readonly Source[]): string[] => sources.map(({ name }) => name);

async function written(t: TestContext, bytes: Uint8Array, name = 'x.parquet'): Promise<string> {
  const path = join(await temporaryFolder(t), name);
  writeFileSync(path, bytes);
  return pathToFileURL(path).href;
}

test('each row is an input with its own bytes, whatever the codec, encoding, pages and row groups', async (t) => {
  const folder = await temporaryFolder(t);
  let files = 0;
  const forms: fc.Arbitrary<ParquetForm> = fc.record(
    {
      shape: fc.constantFrom('struct', 'flat'),
      codec: fc.constantFrom('UNCOMPRESSED', 'SNAPPY', 'GZIP', 'ZSTD'),
      encoding: fc.constantFrom('PLAIN', 'DELTA_LENGTH_BYTE_ARRAY', 'DELTA_BYTE_ARRAY'),
      rowGroupSize: fc.integer({ min: 1, max: 20 }),
      pageSize: fc.constantFrom(16, 200, 2 ** 20),
    },
    { requiredKeys: ['shape'] },
  );
  const few = fc.constantFrom('a', 'bb', 'a'.repeat(300)).map(image);
  const value = fc.option(fc.oneof(few, fc.uint8Array({ minLength: 1, maxLength: 400 })), { freq: 6 });
  await fc.assert(
    fc.asyncProperty(fc.array(value, { minLength: 1, maxLength: 40 }), forms, async (values, form) => {
      const path = join(folder, `${++files}.parquet`);
      writeFileSync(
        path,
        parquetOf(
          values.map((bytes) => ({ bytes })),
          form,
        ),
      );
      const { sources } = await list(pathToFileURL(path).href);
      assert.deepEqual(
        namesOf(sources),
        values.map((_, i) => `${files}.parquet/${i}`),
      );
      for (const [i, bytes] of values.entries()) {
        if (bytes) assert.deepEqual(new Uint8Array(await contentOf(sources[i]!)), new Uint8Array(bytes));
        else await assert.rejects(contentOf(sources[i]!), { stage: 'decode', message: /^Row \d+ has no image: / });
      }
    }),
    { numRuns: 60 },
  );
});

test('a row is named by the path beside its image, if it has one, and its version is that of the file', async (t) => {
  const paths = ['cats/1.jpg', null, '/a/../b#?@.PNG', '', 'x', 'film.mp4', 'b.tar'];
  const uri = await written(t, parquetOf(paths.map((path, i) => ({ bytes: image(`image ${i}`), path }))));
  const version = localVersion(statSync(new URL(uri)));
  const { sources } = await list(uri);
  assert.deepEqual(
    sources.map(({ uri: of, name, error }) => [of.slice(uri.length), name, error]),
    [
      ['#image.bytes/cats/1@0.jpg', 'cats/1.jpg', undefined],
      ['#image.bytes/1', 'x.parquet/1', undefined],
      ['#image.bytes/a/b%23%3F@@2.PNG', 'a/b#?@.PNG', undefined],
      ['#image.bytes/3', 'x.parquet/3', undefined],
      ['#image.bytes/x@4', 'x', undefined],
      ['#image.bytes/film@5.mp4', 'film.mp4', 'A recording in a Parquet file is not read: write it to a file'],
      ['#image.bytes/b@6.tar', 'b.tar', 'A tar in a Parquet file is not read: write it to a file'],
    ],
  );
  for (const source of sources) {
    assert.equal(source.version, version);
    assert.ok(source.sizeBytes > 0);
  }
  for (const i of [0, 1, 2, 3, 4]) assert.equal(String(await contentOf(sources[i]!)), `image ${i}`);
  assert.notEqual(await versionOfContent(sources[0]!.uri), await versionOfContent(sources[1]!.uri));
  // A row that is named itself is that input alone.
  const [named] = (await list(sources[2]!.uri)).sources;
  assert.deepEqual([named!.uri, named!.named, named!.version], [sources[2]!.uri, false, version]);
});

test('below a folder, files with images are read, manifests and others are left out, and damaged ones reported', async (t) => {
  const folder = await temporaryFolder(t);
  mkdirSync(join(folder, 'in'));
  const put = (name: string, bytes: Uint8Array): void => writeFileSync(join(folder, 'in', name), bytes);
  const texts = (name: string): Buffer =>
    Buffer.from(parquetWriteBuffer({ columnData: [{ name, data: ['a.jpg'], type: 'STRING' }] }));
  put('a.parquet', parquetOf(images(3)));
  put('b.parquet', parquetOf(images(2), { shape: 'flat' }));
  put('cut.parquet', parquetOf(images(3)).subarray(0, -5));
  const masks = { name: 'mask', type: 'BYTE_ARRAY', data: [image('a'), image('b')] } as const;
  put('two.parquet', parquetOf(images(2), { shape: 'flat', also: masks }));
  put('list.parquet', texts('path'));
  put('texts.parquet', texts('title'));
  const uri = pathToFileURL(join(folder, 'in')).href;
  const { sources, passed } = await list(uri);
  assert.deepEqual(namesOf(sources), [
    ...['a.parquet/cam/0.jpg', 'a.parquet/cam/1.jpg', 'a.parquet/cam/2.jpg', 'b.parquet/0', 'b.parquet/1'],
    ...['cut.parquet', 'two.parquet'],
  ]);
  assert.deepEqual(passed, ['in/list.parquet', 'in/texts.parquet']);
  const errors = sources.flatMap(({ error }) => error ?? []);
  assert.deepEqual(errors, [
    'The Parquet file cannot be read: it is not a Parquet file, or cut off',
    "The Parquet file has several columns that may hold images: 'image', 'mask': name one by --column",
  ]);
  const chosen = await list(pathToFileURL(join(folder, 'in/two.parquet')).href, { column: 'mask' });
  assert.deepEqual(await Promise.all(chosen.sources.map(contentOf)), [Buffer.from('a'), Buffer.from('b')]);
  // A field with bytes is one column, by either name, and is taken without a name.
  const beside = { name: 'mask', type: 'BYTE_ARRAY', data: [image('a')] } as const;
  const both = await written(t, parquetOf(images(1), { also: beside }));
  for (const column of [undefined, 'image', 'image.bytes'])
    assert.match(String(await contentOf((await list(both, { column })).sources[0]!)), /^image 0/);
});

test('a named file without images, or with several such columns, is refused, and a manifest stays one', async (t) => {
  const of = async (name: string, type: 'STRING' | 'BYTE_ARRAY'): Promise<string> => {
    const also = { name, type, data: type === 'STRING' ? ['a.jpg'] : [image('a')] };
    return await written(t, parquetOf(images(1), { shape: 'flat', also }));
  };
  const refused = async (uri: string, message: RegExp, column?: string): Promise<void> =>
    await assert.rejects(list(uri, { column }), { name: 'SourceNotFoundError', message });
  await refused(await of('mask', 'BYTE_ARRAY'), /several columns that may hold images: 'image', 'mask'/);
  await refused(await of('title', 'STRING'), /has no column 'x' of images: its columns of bytes are 'image'$/, 'x');
  const texts = parquetWriteBuffer({ columnData: [{ name: 'title', data: ['a'], type: 'STRING' }] });
  await refused(await written(t, new Uint8Array(texts)), /has no column of bytes, as images are; nor is it a manifest/);
  await refused(await written(t, Buffer.from('PAR1')), /The manifest '.*' cannot be read: it is not a Parquet file/);
  const manifest = await of('path', 'STRING');
  assert.deepEqual(namesOf((await list(manifest)).sources), ['a.jpg']);
  assert.deepEqual(namesOf((await list(manifest, { column: 'image' })).sources), ['x.parquet/0']);
});

test('include and exclude choose among rows by their paths', async (t) => {
  const folder = await temporaryFolder(t);
  writeFileSync(join(folder, 'x.parquet'), parquetOf(images(12)));
  const file = pathToFileURL(join(folder, 'x.parquet')).href;
  const globs = { include: ['cam/1*'], exclude: ['11.jpg'] };
  const { sources, passed } = await list(file, { filter: globs });
  assert.deepEqual(namesOf(sources), ['cam/1.jpg', 'cam/10.jpg']);
  assert.equal(passed.length, 10);
  const below = await list(pathToFileURL(folder).href, { filter: { include: ['x.parquet/cam/1.jpg'], exclude: [] } });
  assert.deepEqual(namesOf(below.sources), ['x.parquet/cam/1.jpg']);
});

test('rows of many files may be read at once, though few files stay open', async (t) => {
  const folder = await temporaryFolder(t);
  for (const name of ['a', 'b', 'c', 'd', 'e'])
    writeFileSync(join(folder, `${name}.parquet`), parquetOf(images(20), { rowGroupSize: 3, pageSize: 64 }));
  const { sources } = await list(pathToFileURL(folder).href);
  assert.equal(sources.length, 100);
  const mixed = sources.map((_, i) => sources[(i * 37) % 100]!);
  const contents = await Promise.all(mixed.map(contentOf));
  for (const [i, content] of contents.entries())
    assert.deepEqual(content, Buffer.from(images(20)[((i * 37) % 100) % 20]!.bytes!));
});

test('a file that is replaced is read again', async (t) => {
  const uri = await written(t, parquetOf([{ bytes: image('old') }]));
  const row = (await list(uri)).sources[0]!;
  assert.equal(String(await contentOf(row)), 'old');
  writeFileSync(new URL(uri), parquetOf([{ bytes: image('new') }]));
  utimesSync(new URL(uri), 1, 1);
  assert.equal(String(await contentOf(row)), 'new');
  await assert.rejects(contentOf({ ...row, uri: `${uri}#image.bytes/1` }), /The Parquet file has no row 1$/);
  await assert.rejects(contentOf({ ...row, uri: `${uri}#other/0` }), /has no column 'other' of images$/);
});

test('from a server come the footer, the paths and the pages of images that are read, and nothing else', async (t) => {
  const large = { name: 'text', type: 'STRING', data: [] as string[] } as const;
  for (let i = 0; i < 64; i++) large.data.push(`${i}`.repeat(60_000));
  const bytes = parquetOf(images(64), { also: large, rowGroupSize: 16, codec: 'UNCOMPRESSED' });
  let sent = 0;
  const server = await startServer((request, response) => {
    const [, from, to] = /bytes=(\d+)-(\d+)/.exec(request.headers.range ?? '') ?? [];
    sent += Math.min(Number(to) + 1, bytes.length) - Number(from);
    sendFile({ bytes, etag: '"1"' }, request, response);
  });
  t.after(() => server.close());
  const { sources } = await list(`${server.origin}/x.parquet`);
  assert.deepEqual(
    sources.map(({ name }) => name),
    images(64).map(({ path }) => path),
  );
  assert.equal(sources[0]!.uri, `${server.origin}/x.parquet#image.bytes/cam/0@0.jpg`);
  assert.match(String(await contentOf(sources[40]!)), /^image 40 /);
  assert.ok(bytes.length > 4e6 && sent < 1.5e6, `${sent} of ${bytes.length} bytes`);
});
