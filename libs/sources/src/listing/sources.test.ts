import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmod, mkdir, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { CaptureRule } from '../captured/capture-rule.ts';
import { openInputFile } from '../files/input-file.ts';
import type { PassedOver } from '../globs/selection.ts';
import { temporaryFolder } from '../testing/temporary-files.ts';
import type { Source } from './source.ts';
import { checkHasSource, listAllSources, listSources, mayHaveVideo } from './sources.ts';
import { toUri } from './to-uri.ts';

/** A folder with these files, each with its own path as content. */
async function folderOf(t: TestContext, ...paths: string[]): Promise<string> {
  const folder = await temporaryFolder(t);
  for (const path of paths) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), path);
  }
  return folder;
}

async function list(path: string): Promise<Source[]> {
  const sources: Source[] = [];
  for await (const source of listSources(pathToFileURL(path).href)) sources.push(source);
  return sources;
}

const names = async (path: string) => (await list(path)).map((source) => source.name);

/** The size and the time of change of a file, as its version. */
async function versionOf(path: string): Promise<string> {
  const { size, mtimeMs } = await stat(path);
  return `${size} ${mtimeMs}`;
}

const notFound = (message: string | RegExp) => ({ name: 'SourceNotFoundError', message });

test('a file is itself, whatever its name', async (t) => {
  const folder = await folderOf(t, 'x/image.dat');
  const path = join(folder, 'x/image.dat');
  assert.deepEqual(await list(path), [
    { uri: pathToFileURL(path).href, name: 'image.dat', sizeBytes: 11, named: true, version: await versionOf(path) },
  ]);
});

test('a folder is the images in it and below, in natural order, without hidden and other files', async (t) => {
  const folder = await folderOf(
    t,
    ...[
      'f10.jpg',
      'f9.JPG',
      'sub/2.png',
      'sub/10.tiff',
      'a.gif',
      '.hidden.jpg',
      '.git/x.png',
      'notes.md',
      'noextension',
    ],
    ...['f9.jpg.bak', 'zz.jpg/inside.webp'],
  );
  const sources = await list(folder);
  assert.deepEqual(
    sources.map((source) => source.name),
    ['a.gif', 'f9.JPG', 'f10.jpg', 'sub/2.png', 'sub/10.tiff', 'zz.jpg/inside.webp'],
  );
  assert.deepEqual(sources[3], {
    uri: pathToFileURL(join(folder, 'sub/2.png')).href,
    name: 'sub/2.png',
    sizeBytes: 9,
    named: false,
    version: await versionOf(join(folder, 'sub/2.png')),
  });
});

test('more entries than are looked up at once keep their order', async (t) => {
  const folder = await folderOf(t, ...Array.from({ length: 300 }, (_, i) => `${i}.png`));
  assert.deepEqual(
    await names(folder),
    Array.from({ length: 300 }, (_, i) => `${i}.png`),
  );
});

test('links are followed, each folder is walked once at its place, and a link in a circle is reported', async (t) => {
  const folder = await folderOf(t, 'b/1.png', 'c/d/2.png', '.kept/4.png');
  const elsewhere = await folderOf(t, 'e/5.png', 'e/f/6.png');
  await symlink('..', join(folder, 'b/up'));
  await symlink('../c', join(folder, 'b/c-link'));
  await symlink('1.png', join(folder, 'b/3.png'));
  await symlink('loop', join(folder, 'loop'));
  await symlink('.kept', join(folder, 'kept'));
  await symlink(join(elsewhere, 'e/f'), join(folder, 'x1'));
  await symlink(join(elsewhere, 'e'), join(folder, 'x2'));
  await symlink(join(elsewhere, 'e'), join(folder, 'x3'));
  await symlink(folder, join(elsewhere, 'e/back'));
  const circle = 'The symbolic link leads in a circle';
  assert.deepEqual(
    (await list(folder)).map(({ name, error }) => (error ? `${name}: ${error}` : name)),
    [
      'b/1.png',
      'b/3.png',
      `b/up: ${circle}: it leads to a folder that it lies in`,
      'c/d/2.png',
      'kept/4.png',
      `loop: ${circle}`,
      'x1/6.png',
      'x2/5.png',
      `x2/back: ${circle}: it leads to a folder that it lies in`,
    ],
  );
});

test('links that a glob names are followed, by ** they are not', async (t) => {
  const folder = await folderOf(t, 'b/1.png', 'c/d/2.png');
  await symlink('../c', join(folder, 'b/link'));
  await symlink('..', join(folder, 'c/up'));
  assert.deepEqual(await names(join(folder, 'b/*/d/*.png')), ['link/d/2.png']);
  assert.deepEqual(await names(join(folder, '**/*.png')), ['b/1.png', 'c/d/2.png']);
  const circles = (await list(join(folder, '*/*/*.png'))).filter(({ error }) => error);
  assert.deepEqual(
    circles.map(({ name }) => name),
    ['c/up'],
  );
});

test('an input that several sources of a job stand for is listed once, where it comes first', async (t) => {
  const folder = await folderOf(t, 'a/1.png', 'a/2.png', 'a/.h/3.png', 'a/x.dat', 'b/1.png', 'm.txt');
  await writeFile(join(folder, 'm.txt'), 'a/1.png\nb/1.png\nb/1.png');
  const all = async (...paths: string[]) => {
    const found: string[] = [];
    for await (const sources of listAllSources(paths.map((path) => toUri(path, folder)))) {
      for (const { uri } of sources) found.push(uri.slice(toUri(folder, '/').length + 1));
    }
    return found;
  };
  assert.deepEqual(await all('a/2.png', 'a', 'a/2.png', 'a/1.png', 'a'), ['a/2.png', 'a/1.png']);
  assert.deepEqual(await all('a', 'a/.h/3.png', 'a/x.dat', 'a/.h', '.'), [
    ...['a/1.png', 'a/2.png', 'a/.h/3.png', 'a/x.dat', 'b/1.png'],
  ]);
  assert.deepEqual(await all('*/1.png', 'a', 'b/1.png'), ['a/1.png', 'b/1.png', 'a/2.png']);
  // What a manifest lists is not remembered; what comes before a manifest is.
  assert.deepEqual(await all('b', 'm.txt', 'a/1.png'), ['b/1.png', 'a/1.png', 'a/1.png']);
  // A file that only a manifest can name is not a duplicate of anything in its folder.
  await mkdir(join(folder, 'a/folder.png'));
  await writeFile(join(folder, 'm.txt'), 'a/missing.png\na/folder.png\na/1.png');
  assert.deepEqual((await all('a', 'm.txt')).slice(2), ['a/missing.png', 'a/folder.png']);
});

/** The paths reported as not inputs, relative to the folder; folders end with '/'. */
async function passedOver(folder: string, ...paths: string[]): Promise<string[]> {
  const told: string[] = [];
  const onPassedOver = ({ path, isFolder }: PassedOver) => {
    told.push(relative(folder, path) + (isFolder ? '/' : ''));
  };
  await Array.fromAsync(
    listAllSources(
      paths.map((path) => toUri(path, folder)),
      { onPassedOver },
    ),
  );
  return told.sort();
}

test('every file of a folder is an input or reported once, and so is every folder that is not entered', async (t) => {
  const folder = await folderOf(
    t,
    ...['in/1.jpg', 'in/a.db', 'in/noext', 'in/.hidden.jpg', 'in/deep/2.png', 'in/deep/b.txt', 'in/.git/x.png'],
    ...['in/@eaDir/1.jpg/THUMB.jpg', 'in/#recycle/old.jpg', 'in/$Recycle.Bin/r.jpg', 'in/deep/lost+found/3.jpg'],
    ...['in/.Trash-1000/4.jpg', 'in/.@__thumb/5.jpg', 'in/@Recycle/6.jpg', 'in/System Volume Information/7.jpg'],
    ...['elsewhere/8.jpg', 'elsewhere/c.ini'],
  );
  await symlink('a.db', join(folder, 'in/link'));
  await symlink('nothing', join(folder, 'in/dangling'));
  await symlink('@eaDir/1.jpg', join(folder, 'in/thumbs'));
  await symlink('../elsewhere', join(folder, 'in/to-elsewhere'));
  // A name that is not UTF-8.
  await writeFile(Buffer.concat([Buffer.from(join(folder, 'in/z')), Buffer.from([0xfc]), Buffer.from('.csv')]), '');
  const files = ['.hidden.jpg', 'a.db', 'dangling', 'deep/b.txt', 'link', 'noext', 'to-elsewhere/c.ini', 'z\ufffd.csv'];
  const folders = ['#recycle', '$Recycle.Bin', '.@__thumb', '.Trash-1000', '.git', '@Recycle', '@eaDir'];
  const all = [...files, ...[...folders, 'System Volume Information', 'deep/lost+found'].map((name) => `${name}/`)];
  const expected = all.map((name) => `in/${name}`).sort();
  assert.deepEqual(await passedOver(folder, 'in'), expected);
  // The same folder may be given several times, and in any order.
  assert.deepEqual(await passedOver(folder, 'in', 'in/deep', 'in'), expected);
  assert.deepEqual(await passedOver(folder, 'in/deep', 'in'), expected);
  // Files that a glob does not match do not count as left out.
  assert.deepEqual(await passedOver(folder, 'in/**/*.jpg', 'in/1.jpg'), []);
  assert.deepEqual(await names(join(folder, 'in')), ['1.jpg', 'deep/2.png', 'thumbs/THUMB.jpg', 'to-elsewhere/8.jpg']);
  const onlyCopies = await folderOf(t, 'x/@eaDir/1.jpg/THUMB.jpg', 'x/.git/2.png');
  await assert.rejects(
    list(join(onlyCopies, 'x')),
    notFound(
      / it has no files; folders left out because they are hidden, or of a kind in which systems keep copies: 2$/,
    ),
  );
  // Such a folder is read if it is named itself.
  assert.deepEqual(await names(join(folder, 'in/@eaDir')), ['1.jpg/THUMB.jpg']);
  assert.deepEqual(await names(join(folder, 'in/@eaDir/*/*.jpg')), ['1.jpg/THUMB.jpg']);
});

test('looking for the first input goes no further', async (t) => {
  const folder = await folderOf(t, 'a/b/c.png', 'notes.md');
  await writeFile(join(folder, 'm.txt'), '# nothing');
  await checkHasSource(toUri('a', folder));
  await checkHasSource(toUri('**/*.png', folder));
  await assert.rejects(checkHasSource(toUri('a/*.png', folder)), notFound(/^No file matches /));
  await assert.rejects(checkHasSource(toUri('m.txt', folder)), notFound(/names no images$/));
});

test('a video is told by its extension, or may be what was named and has none', async (t) => {
  const folder = await folderOf(t, 'images/1.png', 'images/deep/2.jpg', 'both/3.png', 'both/cam1/4.MKV', 'recording');
  const may = (most: number, ...paths: string[]) =>
    mayHaveVideo(
      paths.map((path) => toUri(path, folder)),
      most,
    );
  assert.equal(await may(10, 'images', 'images/1.png'), false);
  assert.equal(await may(10, 'images', 'both'), true);
  assert.equal(await may(10, 'images', 'recording'), true);
  // Nobody looks further than that.
  assert.equal(await may(2, 'images', 'both/*.png'), true);
});

test('a file that cannot be read is listed, and opening it says why', async (t) => {
  const folder = await folderOf(t, 'locked/1.png', '2.png');
  await symlink('nothing', join(folder, 'dangling.jpg'));
  execFileSync('mkfifo', [join(folder, 'pipe.png')]);
  await chmod(folder, 0o755);
  await chmod(join(folder, 'locked'), 0);
  const isRoot = process.getuid!() === 0;
  if (isRoot) process.seteuid!(65534);
  try {
    const sources = await list(folder);
    assert.deepEqual(
      sources.map((source) => source.name),
      ['2.png', 'dangling.jpg', 'locked', 'pipe.png'],
    );
    const reasons = [
      'The file does not exist',
      'The file cannot be read: permission denied',
      'Not a file: a named pipe',
    ];
    for (const [i, message] of reasons.entries()) {
      await assert.rejects(openInputFile(sources[i + 1]!.uri), { stage: 'read', message });
    }
  } finally {
    if (isRoot) process.seteuid!(0);
    await chmod(join(folder, 'locked'), 0o755);
  }
});

test('a folder without images says what it has', async (t) => {
  const empty = await temporaryFolder(t);
  await assert.rejects(list(empty), notFound(`The folder '${empty}' holds no images: it has no files`));
  const other = await folderOf(t, 'a.md', 'b/c.pdf', '.d.jpg');
  await assert.rejects(
    list(other),
    notFound(/ holds no images: none of its 2 files has the extension of an image or video: jpg, png, /),
  );
});

test('a path that does not exist is said to', async (t) => {
  const path = join(await temporaryFolder(t), 'none.jpg');
  await assert.rejects(list(path), notFound(`'${path}' does not exist`));
  await assert.rejects(
    listSources('ftp://host/').next(),
    notFound(/^'ftp:\/\/host\/' is not the URI of a file on this /),
  );
});

test('a glob is the files it matches, in natural order', async (t) => {
  const folder = await folderOf(t, 'a/f10.jpg', 'a/f9.jpg', 'b/f1.jpg', 'b/f1.png', 'b/.f2.jpg', 'b/f3.jpg/x.txt');
  assert.deepEqual(await names(join(folder, '*/*.jpg')), ['a/f9.jpg', 'a/f10.jpg', 'b/f1.jpg']);
  assert.deepEqual(await names(join(folder, 'a/*')), ['f9.jpg', 'f10.jpg']);
  assert.deepEqual(await names(join(folder, '**/f1.{jpg,png}')), ['b/f1.jpg', 'b/f1.png']);
  assert.deepEqual(await names(join(folder, 'a/f?.jpg')), ['f9.jpg']);
  const path = join(folder, 'b/f1.png');
  assert.deepEqual(await list(join(folder, 'b/*.png')), [
    { uri: pathToFileURL(path).href, name: 'f1.png', sizeBytes: 8, named: false, version: await versionOf(path) },
  ]);
  const none = join(folder, '*.tif');
  await assert.rejects(list(none), notFound(`No file matches '${none}'`));
});

test('a name with glob characters is a name if there is such a file or folder', async (t) => {
  const folder = await folderOf(t, '[2024]/1.jpg', '[2024]/2.jpg', 'a*.jpg', 'ab.jpg', '2/3.jpg');
  assert.deepEqual(await names(join(folder, 'a*.jpg')), ['a*.jpg']);
  assert.deepEqual(await names(join(folder, '[2024]')), ['1.jpg', '2.jpg']);
  assert.deepEqual(await names(join(folder, '[2024]/*.jpg')), ['1.jpg', '2.jpg']);
  await assert.rejects(list(join(folder, '[2024]/3.jpg')), notFound(/^'.*\/\[2024\]\/3\.jpg' does not exist$/));
});

test('weird names come through whole', async (t) => {
  const weird = ['#1.jpg', '%41.jpg', 'a\nb.jpg', 'a b.jpg', 'a\\b.jpg', 'q?.jpg', 'é漢.jpg'];
  const folder = await folderOf(t, ...weird);
  assert.deepEqual(await names(folder), weird);
  for (const name of weird) {
    const [source] = await list(join(folder, name));
    assert.equal(source?.name, name);
    assert.equal(source?.uri, toUri(name, folder));
  }
});

test('a manifest is its lines: paths from its folder, and URIs; comments and empty lines are not', async (t) => {
  const folder = await folderOf(t, 'in/2.png', 'in/1 #x.png', 'out.jpg');
  const uri = pathToFileURL(join(folder, 'out.jpg')).href;
  const lines = [
    '\ufeff# images',
    '',
    '2.png\r',
    '  1 #x.png  ',
    '../out.jpg',
    uri,
    'none.png',
    's3://bucket/a/key.jpg',
  ];
  await writeFile(join(folder, 'in/manifest.txt'), lines.join('\n'));
  const sources = await list(join(folder, 'in/manifest.txt'));
  assert.deepEqual(
    sources.map(({ name, sizeBytes, named }) => [name, sizeBytes, named]),
    [
      ['2.png', 8, false],
      ['1 #x.png', 11, false],
      ['out.jpg', 7, false],
      ['out.jpg', 7, false],
      ['none.png', 0, false],
      ['key.jpg', 0, false],
    ],
  );
  assert.equal(sources[0]!.uri, pathToFileURL(join(folder, 'in/2.png')).href);
  await assert.rejects(openInputFile(sources[4]!.uri), { stage: 'read', message: 'The file does not exist' });
  assert.equal(sources[5]!.uri, 's3://bucket/a/key.jpg');
});

test('a manifest without a line is said to name nothing', async (t) => {
  const folder = await temporaryFolder(t);
  await writeFile(join(folder, 'manifest.txt'), '# nothing\n\n');
  await assert.rejects(list(join(folder, 'manifest.txt')), notFound(/^The manifest '.*' names no images$/));
});

/** The fields that every job.json has. */
const jobJson = (id: string, more: object = {}): string =>
  `${JSON.stringify({ id, state: 'complete', version: '1', ...more, specification: { sources: [], out: '' } }, null, 2)}\n`;

/** Names of the inputs that sources stand for together, and the folders that were left out. */
async function listAll(folder: string, ...paths: string[]): Promise<{ listed: string[]; leftOut: string[] }> {
  const leftOut: string[] = [];
  const uris = paths.map((path) => toUri(path, folder));
  const sources = await Array.fromAsync(
    listAllSources(uris, { onLeftOut: ({ path, jobId }) => leftOut.push(`${relative(folder, path)} ${jobId}`) }),
  );
  return { listed: sources.flat().map(({ uri }) => relative(folder, fileURLToPath(uri))), leftOut };
}

test('folders that hold the output of a job are not inputs, unless they are named themselves', async (t) => {
  const folder = await folderOf(
    t,
    '1.png',
    'out/preview/1.png',
    'deep/out/preview/2.png',
    'other/3.png',
    'broken/4.png',
  );
  await writeFile(join(folder, 'out/job.json'), jobJson('j1'));
  await writeFile(join(folder, 'deep/out/job.json'), jobJson('j2', { state: 'running' }));
  // Files of other programs.
  await writeFile(join(folder, 'other/job.json'), '{ "id": "x", "state": "complete", "frames": [] }');
  await writeFile(join(folder, 'broken/job.json'), jobJson('j3').slice(0, -10));
  const inputs = ['1.png', 'broken/4.png', 'other/3.png'];
  const leftOut = ['deep/out j2', 'out j1'];
  assert.deepEqual(await listAll(folder, '.'), { listed: inputs, leftOut });
  assert.deepEqual(await listAll(folder, '**/*.png'), { listed: inputs, leftOut });
  assert.deepEqual(await listAll(folder, 'out'), { listed: ['out/preview/1.png'], leftOut: [] });
  assert.deepEqual(await listAll(folder, 'out/preview'), { listed: ['out/preview/1.png'], leftOut: [] });
  assert.deepEqual(await listAll(folder, 'out/*/*.png'), { listed: ['out/preview/1.png'], leftOut: [] });
  // What was left out there is not taken for listed here.
  assert.deepEqual((await listAll(folder, '.', 'out')).listed, [...inputs, 'out/preview/1.png']);
  assert.deepEqual((await listAll(folder, '**/*.png', 'out/preview', 'out')).listed, [...inputs, 'out/preview/1.png']);
  await symlink('../out', join(folder, 'other/link'));
  assert.deepEqual((await listAll(folder, 'other')).leftOut, ['other/link j1']);
  await checkHasSource(toUri('.', folder));
  const nothing = notFound(
    / holds no images: it has no files; folders left out because they hold the output of a job: 1$/,
  );
  await assert.rejects(checkHasSource(toUri('deep', folder)), nothing);
  await assert.rejects(list(join(folder, 'deep')), nothing);
});

test('the output of a job is known by the beginning of its job.json, and by the files that a killed process leaves', async (t) => {
  const folder = await folderOf(t, '1.png', 'large/2.png', 'taken/3.png', 'replaced/4.png', 'replaced/.halogrid/x');
  const sources = Array.from({ length: 30_000 }, (_, i) => ({ uri: `file:///a/${i}.png`, name: `${i}.png`, width: 1 }));
  const large = JSON.parse(jobJson('j1'));
  await writeFile(join(folder, 'large/job.json'), JSON.stringify({ ...large, sources }, null, 2));
  assert.ok((await stat(join(folder, 'large/job.json'))).size > 2 ** 20);
  await mkdir(join(folder, 'taken/.halogrid'));
  await writeFile(join(folder, 'taken/.halogrid/earlier.json'), jobJson('j2'));
  await writeFile(join(folder, 'replaced', `.job.json.${randomUUID()}`), jobJson('j3', { state: 'failed' }));
  assert.deepEqual(await listAll(folder, '.'), { listed: ['1.png'], leftOut: ['large j1', 'replaced j3', 'taken j2'] });
});

test('a name that is not UTF-8 is listed with its bytes, and is not taken for another', async (t) => {
  const folder = await folderOf(t, 'a\ufffd.png', 'b.png');
  const raw = (...bytes: (string | number)[]) =>
    Buffer.concat([`${folder}/`, ...bytes].map((part) => Buffer.from(typeof part === 'string' ? part : [part])));
  await writeFile(raw('a', 0xff, '.png'), 'x');
  await writeFile(raw('c ', 0xe9, '%.png'), 'x');
  await writeFile(raw('d', 0xff, '.md'), 'x');
  await mkdir(raw('e', 0xff));
  const sources = await list(folder);
  const isWrong = (bytes: string) => `Its name is not UTF-8 (bytes ${bytes}); rename it`;
  assert.deepEqual(
    sources.map(({ uri, error }) => [uri.slice(toUri(folder, '/').length + 1), error]),
    [
      ['a%FF.png', isWrong('61 ff 2e 70 6e 67')],
      ['a%EF%BF%BD.png', undefined],
      ['b.png', undefined],
      ['c%20%E9%25.png', isWrong('63 20 e9 25 2e 70 6e 67')],
      ['e%FF', isWrong('65 ff')],
    ],
  );
  assert.equal(sources[1]!.sizeBytes, Buffer.byteLength('a\ufffd.png'));
  const unknown = notFound(/z\ufffd\.png' does not exist: a file whose name is not UTF-8 must be renamed first$/);
  await assert.rejects(list(join(folder, 'z\ufffd.png')), unknown);
});

test('lines of a manifest that name nothing are inputs that cannot be read, and are never held whole', async (t) => {
  const folder = await folderOf(t, 'a\ufffd.png', 'b.png');
  const manifest = join(folder, 'm.txt');
  const lines = ['b.png', 'x'.repeat(70_000), '# y', Buffer.from([0x61, 0xff, ...Buffer.from('.png')]), 'a\ufffd.png'];
  await writeFile(manifest, Buffer.concat(lines.flatMap((line) => [Buffer.from(line), Buffer.from('\r\n')])));
  assert.deepEqual(
    (await list(manifest)).map(({ name, error }) => [name.slice(0, 10), error]),
    [
      ['b.png', undefined],
      ['x'.repeat(10), 'Line 2 of the manifest is longer than 65536 bytes, so it names no file'],
      ['a\ufffd.png', 'Line 4 of the manifest is not UTF-8'],
      ['a\ufffd.png', undefined],
    ],
  );
});

test('a glob may be longer than a name, as a list in braces is', async (t) => {
  const folder = await folderOf(t, '7.png');
  const numbers = Array.from({ length: 200 }, (_, i) => i);
  assert.deepEqual(await names(join(folder, `{${numbers.join(',')}}.png`)), ['7.png']);
});

test('recordings in folders by day and camera come by camera and time, and their names say both', async (t) => {
  const days = ['2026-01-09', '2026-01-10'];
  const times = Array.from({ length: 144 }, (_, i) => `${String(Math.floor(i / 6)).padStart(2, '0')}${i % 6}000`);
  const paths = ['cam2', 'cam10'].flatMap((camera) =>
    days.flatMap((day) => times.map((time) => `${camera}/${day}/${time}.mp4`)),
  );
  const folder = await folderOf(t, ...paths.toReversed());
  const found = await list(folder);
  assert.deepEqual(
    found.map(({ name }) => name),
    paths,
  );
  const rule = new CaptureRule({ from: '{camera}/%Y-%m-%d/%H%M%S', zone: 'Europe/Berlin' });
  const video = { timestampMs: 40 };
  const at = (path: string) => rule.of({ uri: found[paths.indexOf(path)]!.uri, video });
  // 23:50 of Berlin's winter is 22:50 in UTC.
  const atMs = Date.UTC(2026, 0, 10, 22, 50) + 40;
  assert.deepEqual(at('cam10/2026-01-10/235000.mp4'), { atMs, camera: 'cam10' });
});
