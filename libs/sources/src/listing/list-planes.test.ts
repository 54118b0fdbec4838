import assert from 'node:assert/strict';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { FilterGlobs } from '../globs/path-filter.ts';
import type { PassedOver } from '../globs/selection.ts';
import { sendFile, startServer, startTestS3 } from '../testing/servers.ts';
import { setEnvironment, temporaryFolder } from '../testing/temporary-files.ts';
import type { Source } from './source.ts';
import { listAllSources, listSources } from './sources.ts';
import { toUri } from './to-uri.ts';

// Worth its seconds: a Zarr is hundreds of files that a listing must take for one input, wherever it is found.

type Files = Record<string, object | string>;

const array2 = (...shape: number[]) => {
  return {
    zarr_format: 2,
    shape,
    chunks: shape.map(() => 16),
    dtype: '|u1',
    compressor: null,
    filters: null,
    order: 'C',
    fill_value: 0,
  };
};
const array3 = (...shape: number[]) => {
  return {
    zarr_format: 3,
    node_type: 'array',
    shape,
    data_type: 'uint16',
    chunk_grid: { name: 'regular', configuration: { chunk_shape: shape.map(() => 16) } },
    chunk_key_encoding: { name: 'default' },
    codecs: [{ name: 'bytes' }],
    fill_value: 0,
  };
};
const axes = (names: string) => [...names].map((name) => ({ name }));
const group3 = (ome: object) => ({ zarr_format: 3, node_type: 'group', attributes: { ome } });
const image = (names: string, ...levels: string[]) => {
  return { multiscales: [{ axes: axes(names), datasets: levels.map((path) => ({ path })) }] };
};

/** Zarrs by the folder that they are in, as OME's programs lay them out. */
const stores: Record<string, Files> = {
  'newer.zarr': {
    'zarr.json': group3({ version: '0.5', ...image('tczyx', '0', '1') }),
    '0/zarr.json': array3(2, 1, 3, 40, 50),
    '1/zarr.json': array3(2, 1, 3, 20, 25),
    '0/c/0/0/0/0/0': 'a chunk',
  },
  'older.ome.zarr': {
    '.zgroup': { zarr_format: 2 },
    '.zattrs': { multiscales: [{ version: '0.1', datasets: [{ path: 's0' }] }] },
    's0/.zarray': array2(1, 2, 1, 40, 50),
  },
  'map.zarr': { 'zarr.json': group3(image('yx', '0')), '0/zarr.json': array3(40, 50) },
  'array.zarr': { '.zarray': array2(40, 50) },
  'named.zarr': { '.zarray': array2(2, 40, 50), '.zattrs': { _ARRAY_DIMENSIONS: ['c', 'y', 'x'] } },
  'series.zarr': {
    '.zattrs': { 'bioformats2raw.layout': 3 },
    '0/.zattrs': image('yx', 'a'),
    '0/a/.zarray': array2(40, 50),
    '1/.zattrs': image('cyx', 'a'),
    '1/a/.zarray': array2(2, 40, 50),
  },
  'plate.zarr': {
    'zarr.json': group3({ plate: { wells: [{ path: 'A/1' }, { path: 'B/2' }] } }),
    'A/1/zarr.json': group3({ well: { images: [{ path: '0' }] } }),
    'A/1/0/zarr.json': group3(image('cyx', '0')),
    'A/1/0/0/zarr.json': array3(2, 40, 50),
    'B/2/zarr.json': group3({ well: { images: [{ path: '0' }] } }),
    'B/2/0/zarr.json': group3({ plate: { wells: [{ path: 'A/1' }] } }),
  },
};

async function folderOf(t: TestContext, files: Files): Promise<string> {
  const folder = await temporaryFolder(t);
  await writeFiles(folder, files);
  return folder;
}

async function writeFiles(folder: string, files: Files): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content));
  }
}

const filesOf = (all: Record<string, Files>): Files =>
  Object.fromEntries(
    Object.entries(all).flatMap(([store, files]) =>
      Object.entries(files).map(([name, content]): [string, object | string] => [`${store}/${name}`, content]),
    ),
  );

const listed = (uri: string, level = 0): Promise<Source[]> => Array.fromAsync(listSources(uri, { level }));

/** Names with the URIs below `base`, or the sentence of what cannot be read. */
const planesOf = (sources: readonly Source[], base: string): string[][] =>
  sources.map(({ name, uri, error }) => [name, error ?? uri.slice(base.length)]);

const planes: Record<string, string[][]> = {
  'array.zarr': [['array.zarr', '/array.zarr/.zarray#plane']],
  'map.zarr': [['map.zarr', '/map.zarr/0/zarr.json#plane']],
  'named.zarr': [0, 1].map((c) => [`named.zarr/c${c}`, `/named.zarr/.zarray#c=${c}`]),
  'newer.zarr': [0, 1].flatMap((t) =>
    [0, 1, 2].map((z) => [`newer.zarr/t${t}-z${z}`, `/newer.zarr/0/zarr.json#t=${t}&c=0&z=${z}`]),
  ),
  'older.ome.zarr': [0, 1].map((c) => [`older.ome.zarr/c${c}`, `/older.ome.zarr/s0/.zarray#t=0&c=${c}&z=0`]),
  'plate.zarr': [
    ...[0, 1].map((c) => [`plate.zarr/A/1/0/c${c}`, `/plate.zarr/A/1/0/0/zarr.json#c=${c}`]),
    ['plate.zarr/B/2/0', "The group 'B/2/0' of the OME-Zarr holds no image"],
  ],
  'series.zarr': [
    ['series.zarr/0', '/series.zarr/0/a/.zarray#plane'],
    ...[0, 1].map((c) => [`series.zarr/1/c${c}`, `/series.zarr/1/a/.zarray#c=${c}`]),
  ],
};

test('each plane of each image of a Zarr is a source, by every layout of OME-Zarr', async (t) => {
  const folder = await folderOf(t, filesOf(stores));
  const base = pathToFileURL(folder).href;
  for (const [name, expected] of Object.entries(planes)) {
    for (const end of ['', '/']) assert.deepEqual(planesOf(await listed(`${base}/${name}${end}`), base), expected);
  }
  // The file of metadata, an image, an array and a plane may be named, too.
  assert.deepEqual(planesOf(await listed(`${base}/map.zarr/zarr.json`), base), planes['map.zarr']);
  assert.deepEqual(
    planesOf(await listed(`${base}/series.zarr/1`), base),
    [0, 1].map((c) => [`1/c${c}`, `/series.zarr/1/a/.zarray#c=${c}`]),
  );
  assert.deepEqual(planesOf(await listed(`${base}/array.zarr/.zarray`), base), planes['array.zarr']);
  const plane = toUri(`${base}/newer.zarr/0/zarr.json#t=1&c=0&z=2`, '/');
  assert.deepEqual(planesOf(await listed(plane), base), [
    ['newer.zarr/0/t1-c0-z2', '/newer.zarr/0/zarr.json#t=1&c=0&z=2'],
  ]);
  const [first] = await listed(`${base}/newer.zarr`, 1);
  assert.deepEqual(planesOf([first!], base), [['newer.zarr/t0-z0', '/newer.zarr/1/zarr.json#t=0&c=0&z=0']]);
  assert.equal((await listed(`${base}/newer.zarr`, 2))[0]!.error, 'The OME-Zarr has the levels 0 to 1, and no level 2');
});

test('a folder, a glob, a filter, a link and a manifest take a Zarr for one input, and never look into it', async (t) => {
  const folder = await folderOf(t, {
    ...filesOf(Object.fromEntries(Object.entries(stores).map(([name, files]) => [`in/${name}`, files]))),
    'in/photo.png': 'x',
    'in/named.zarr/photo.png': 'x',
    'in/list.txt': 'map.zarr\nphoto.png\narray.zarr/.zarray\n',
    'in/zip.zarr': 'not a folder',
  });
  await symlink('map.zarr', join(folder, 'in/link.zarr'));
  const passed: string[] = [];
  const names = async (sources: string[], filter?: FilterGlobs): Promise<string[]> => {
    passed.length = 0;
    const onPassedOver = ({ path, isFiltered }: PassedOver) =>
      void passed.push(`${path.slice(folder.length)}${isFiltered ? ' filtered' : ''}`);
    const uris = sources.map((source) => toUri(source, folder));
    return (await Array.fromAsync(listAllSources(uris, { filter, onPassedOver }))).flat().map(({ name }) => name);
  };
  const inOrder = ['array.zarr', 'link.zarr', 'map.zarr', 'named.zarr', 'newer.zarr', 'older.ome.zarr'];
  const all = [
    ...inOrder.flatMap((name) =>
      planes[name === 'link.zarr' ? 'map.zarr' : name]!.map(([plane]) => plane!.replace(/^map/, name.slice(0, -5))),
    ),
    'photo.png',
    ...['plate.zarr', 'series.zarr'].flatMap((name) => planes[name]!.map(([plane]) => plane!)),
    'zip.zarr',
  ];
  assert.deepEqual(await names(['in']), all);
  assert.deepEqual(passed, ['/in/list.txt']);
  // Named again, a Zarr is the same input; a file in it is another.
  assert.deepEqual(await names(['in/map.zarr', 'in', 'in/array.zarr', 'in/named.zarr/photo.png']), [
    'map.zarr',
    ...all.filter((name) => name !== 'map.zarr'),
    'photo.png',
  ]);
  assert.deepEqual(await names(['in/[am]*.zarr', 'in/map.zarr']), ['array.zarr', 'map.zarr']);
  assert.deepEqual(await names(['in/**/*.png']), ['photo.png']);
  assert.deepEqual(await names(['in'], { include: ['m*.zarr', '*.png'], exclude: [] }), ['map.zarr', 'photo.png']);
  assert.deepEqual(
    passed.sort(),
    ['array', 'link', 'named', 'newer', 'older.ome', 'plate', 'series', 'zip']
      .map((name) => `/in/${name}.zarr filtered`)
      .concat('/in/list.txt')
      .sort(),
  );
  assert.deepEqual(await names(['in/map.zarr', 'in/photo.png'], { include: [], exclude: ['*.zarr'] }), ['photo.png']);
  assert.deepEqual(await names(['in/list.txt']), ['map.zarr', 'photo.png', 'array.zarr']);
});

test('the planes on a web server and in a bucket are the planes of the folder', async (t) => {
  const files = filesOf(stores);
  const content = (path: string): Buffer | undefined => {
    const file = files[path];
    return file === undefined ? undefined : Buffer.from(typeof file === 'string' ? file : JSON.stringify(file));
  };
  const web = await startServer((request, response) => {
    const url = new URL(request.url!, 'http://host');
    const bytes = content(url.pathname.slice(1));
    if (!bytes || url.search !== '?key=1') response.writeHead(404).end();
    else sendFile({ bytes, etag: '"1"' }, request, response);
  });
  t.after(() => web.close());
  for (const [name, expected] of Object.entries(planes)) {
    const inQuery = expected.map(([plane, uri]) => [plane, uri!.replace('#', '?key=1#')]);
    assert.deepEqual(planesOf(await listed(`${web.origin}/${name}/?key=1`), web.origin), inQuery);
  }
  const bucket = await startTestS3({ accessKeyId: 'a', secretAccessKey: 'b', region: 'c', bucket: 'images' });
  t.after(() => bucket.close());
  setEnvironment(t, bucket.environment);
  for (const path of Object.keys(files)) bucket.objects.set(path, content(path)!);
  bucket.objects.set('photo.png', Buffer.from('x'));
  for (const [name, expected] of Object.entries(planes)) {
    for (const end of ['', '/'])
      assert.deepEqual(planesOf(await listed(`s3://images/${name}${end}`), 's3://images'), expected);
  }
  const inOrder = Object.keys(planes)
    .sort()
    .flatMap((name) => planes[name]!);
  inOrder.splice(
    inOrder.findIndex(([name]) => name!.startsWith('plate')),
    0,
    ['photo.png', '/photo.png'],
  );
  assert.deepEqual(planesOf(await listed('s3://images/'), 's3://images'), inOrder);
  assert.deepEqual(planesOf(await listed('s3://images/m*.zarr'), 's3://images'), planes['map.zarr']);
});

test('a Zarr that cannot be listed is one input with a sentence', async (t) => {
  const ome = (changes: object, names = 'cyx', shape = [2, 40, 50]): Files => {
    const [multiscale] = image(names, '0').multiscales;
    return { 'zarr.json': group3({ multiscales: [{ ...multiscale, ...changes }] }), '0/zarr.json': array3(...shape) };
  };
  const cases: [Files, RegExp][] = [
    [{ 'photo.png': 'x' }, /^There is no Zarr: it has no zarr\.json, \.zarray, \.zattrs or \.zgroup$/],
    [{ 'zarr.json': '{' }, /^zarr\.json of the Zarr is not JSON: /],
    [
      { '.zgroup': { zarr_format: 2 } },
      /^The Zarr group holds no image of OME-Zarr \(multiscales\): name the folder of an image or an array in it$/,
    ],
    [ome({ datasets: [] }), /^The multiscales of the OME-Zarr name no datasets$/],
    [
      ome({ datasets: [{ path: '../0' }] }),
      /^The OME-Zarr lists the path '\.\.\/0' among its datasets: it must lead to a folder below$/,
    ],
    [ome({ datasets: [{ path: 'away' }] }), /^There is no Zarr: /],
    [ome({ axes: [{}, {}, {}] }), /^The multiscales of the OME-Zarr have axes without names$/],
    [ome({}, 'yxc'), /^The Zarr array of 2x40x50 has the axes y, x, c: the last two must be y and x$/],
    [ome({}, 'yx'), /^The Zarr array of 2x40x50 has the axes y, x$/],
    [
      ome({}, 'ccyx', [1, 1, 40, 50]),
      /has the axes c, c, y, x: each must have a name of its own, of letters and digits$/,
    ],
    [ome({}, 'cyx', [2 ** 21, 40, 50]), /which are 2097152 planes: at most 1048576 are read$/],
    [
      { 'zarr.json': array3(3, 4, 5) },
      /^The Zarr array of 3x4x5 does not name its 3 axes, as OME-Zarr does: arrays of 2 are read without names$/,
    ],
    [
      { '.zarray': { ...array2(4, 5), dtype: '<f4' } },
      /^The Zarr array has samples of the type '<f4': uint8 and uint16 are read$/,
    ],
    [
      { '.zattrs': { 'bioformats2raw.layout': 3 } },
      /^The OME-Zarr says that it holds a series of images, and has none$/,
    ],
  ];
  for (const [i, [files, sentence]] of cases.entries()) {
    const folder = await folderOf(t, filesOf({ [`${i}.zarr`]: files }));
    const [source, ...others] = await listed(pathToFileURL(folder).href);
    assert.match(source?.error ?? '', sentence);
    assert.deepEqual([source!.name, others], [`${i}.zarr`, []]);
  }
});
