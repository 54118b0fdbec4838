import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, readFileSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { openInputFile } from '../files/input-file.ts';
import { showFile, versionOfContent } from '../files/show-file.ts';
import type { FilterGlobs } from '../globs/path-filter.ts';
import type { PassedOver } from '../globs/selection.ts';
import { sendFile, startServer, startTestS3 } from '../testing/servers.ts';
import { setEnvironment, temporaryFile, temporaryFolder } from '../testing/temporary-files.ts';
import type { Source } from './source.ts';
import { checkHasSource, listAllSources } from './sources.ts';

// The tar of the system makes the tars, one call each; reading them takes milliseconds.

const long = `${'deep/'.repeat(24)}${'long-name-'.repeat(15)}.jpg`;
const files = ['cam1/1.jpg', 'cam1/10.jpg', 'cam1/2.jpg', 'cam1-b/1.png', 'cam1.jpg', 'größe/é 1+2@3#4%5?.PNG', long];
const others = ['notes.txt', '.hidden.jpg', 'cam1/@eaDir/1.jpg', 'cam1/@eaDir/2.jpg'];

/** A folder of files, each with a content of its own. */
async function folderWith(t: TestContext, names: readonly string[]): Promise<string> {
  const folder = join(await temporaryFolder(t), 'in');
  for (const [i, name] of names.entries()) {
    mkdirSync(join(folder, dirname(name)), { recursive: true });
    writeFileSync(join(folder, name), name.repeat(1 + i * 40));
  }
  return folder;
}

const tar = (folder: string, ...options: string[]): Buffer =>
  execFileSync('tar', ['-c', '-f', '-', '-C', folder, ...options, '.'], { maxBuffer: 2 ** 26 });

interface Listed {
  sources: Source[];
  /** Paths below the place of the source. */
  passed: string[];
}

async function list(uri: string, filter?: Partial<FilterGlobs>, base = uri): Promise<Listed> {
  const sources: Source[] = [];
  const passed: string[] = [];
  const onPassedOver = ({ path, isFolder, isFiltered }: PassedOver): void => {
    const from = base.startsWith('file:') ? base.slice('file://'.length) : base;
    passed.push(path.slice(from.length + 1) + (isFolder ? '/' : '') + (isFiltered ? ' by the filter' : ''));
  };
  const globs = filter && { include: [], exclude: [], ...filter };
  for await (const some of listAllSources([uri], { onPassedOver, filter: globs })) sources.push(...some);
  return { sources, passed: passed.sort() };
}

async function contentOf({ uri }: Source): Promise<string> {
  const file = await openInputFile(uri);
  try {
    const bytes = Buffer.alloc(file.sizeBytes);
    await file.read(bytes, 0);
    return bytes.toString();
  } finally {
    await file.close();
  }
}

const contents = (sources: readonly Source[]) => Promise.all(sources.map(contentOf));
const namesOf = (sources: readonly Source[]) => sources.map(({ name }) => name);

test('a tar of any form has the inputs of the folder that it was made of, in its order', async (t) => {
  const folder = await folderWith(t, [...files, ...others]);
  const expected = await list(pathToFileURL(folder).href);
  assert.equal(expected.sources.length, files.length);
  for (const form of ['gnu', 'oldgnu', 'pax', 'ustar', 'v7']) {
    // The oldest forms hold only short names.
    const isShort = form === 'v7' || form === 'ustar';
    const of = isShort ? ['--exclude', 'deep'] : [];
    const uri = await temporaryFile(t, 'x.tar', tar(folder, `--format=${form}`, '--sort=none', ...of));
    const { sources, passed } = await list(uri);
    const wanted = expected.sources.filter(({ name }) => !isShort || !name.startsWith('deep'));
    assert.deepEqual(namesOf(sources), namesOf(wanted), form);
    assert.deepEqual(await contents(sources), await contents(wanted), form);
    assert.deepEqual(passed, expected.passed, form);
    const stat = statSync(new URL(uri));
    for (const { version, sizeBytes } of sources) {
      assert.equal(version, `${stat.size} ${stat.mtimeMs}`);
      assert.ok(sizeBytes > 0);
    }
  }
});

test('a member is shown and checked by its own bytes', async (t) => {
  const folder = await folderWith(t, files);
  const { sources } = await list(await temporaryFile(t, 'x.tar', tar(folder)));
  for (const { uri, name } of sources) {
    const alone = pathToFileURL(join(folder, name)).href;
    assert.equal(await versionOfContent(uri), await versionOfContent(alone));
    for (const isWhole of [true, false]) {
      assert.deepEqual((await showFile(uri, isWhole)).sha256, (await showFile(alone, isWhole)).sha256);
    }
  }
});

test('a tar in a folder is a folder of that name, for filters too', async (t) => {
  const folder = await folderWith(t, files);
  const archive = join(await temporaryFolder(t), 'archive');
  mkdirSync(archive);
  writeFileSync(join(archive, 'b.tar'), tar(folder));
  writeFileSync(join(archive, 'a.jpg'), 'a');
  writeFileSync(join(archive, 'c.jpg'), 'c');
  const uri = pathToFileURL(archive).href;
  const expected = (await list(pathToFileURL(folder).href)).sources.map(({ name }) => `b.tar/${name}`);
  assert.deepEqual(namesOf((await list(uri)).sources), ['a.jpg', ...expected, 'c.jpg']);
  const cam1 = expected.filter((name) => name.startsWith('b.tar/cam1/'));
  assert.deepEqual(namesOf((await list(uri, { include: ['cam1'] })).sources), cam1);
  assert.deepEqual(namesOf((await list(uri, { include: ['b.tar/cam1/*'] })).sources), cam1);
  assert.deepEqual(namesOf((await list(uri, { exclude: ['b.tar'] })).sources), ['a.jpg', 'c.jpg']);
  const [named, passed] = Object.values(await list(`${uri}/b.tar`, { include: ['cam1/*'], exclude: ['10.jpg'] }));
  assert.deepEqual(namesOf(named as Source[]), ['cam1/1.jpg', 'cam1/2.jpg']);
  assert.ok((passed as string[]).includes('cam1/10.jpg by the filter'));
  // Named after its folder, it is there already; and globs and manifests find it.
  const twice: Source[] = [];
  for await (const some of listAllSources([uri, `${uri}/b.tar`])) twice.push(...some);
  assert.equal(twice.length, expected.length + 2);
  assert.deepEqual(namesOf((await list(`${uri}/*.tar`)).sources), expected);
  writeFileSync(join(archive, 'list.txt'), `b.tar\n${twice[1]!.uri}\n`);
  const listed = (await list(`${uri}/list.txt`)).sources;
  assert.deepEqual(namesOf(listed).slice(0, -1), expected);
  assert.equal(listed.at(-1)!.uri, twice[1]!.uri);
  assert.equal((await list(twice[1]!.uri)).sources.length, 1);
});

test('what a tar cannot give is refused by name, and links are passed over', async (t) => {
  const folder = await folderWith(t, ['a.jpg', 'clip.mp4', 'inner.tar', 'outer.tar.gz']);
  writeFileSync(join(folder, 'empty.png'), '');
  writeFileSync(join(folder, 'sparse.tif'), '');
  truncateSync(join(folder, 'sparse.tif'), 2 ** 22);
  linkSync(join(folder, 'a.jpg'), join(folder, 'hard.jpg'));
  symlinkSync('a.jpg', join(folder, 'soft.jpg'));
  writeFileSync(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from('b\xff.jpg', 'latin1')]), 'b');
  for (const form of ['gnu', 'pax']) {
    const uri = await temporaryFile(t, 'x.tar', tar(folder, `--format=${form}`, '--sparse', '--sort=name'));
    const { sources, passed } = await list(uri);
    assert.deepEqual(
      sources.map(({ name, error }) => [name, error]),
      [
        ['a.jpg', undefined],
        ['b%FF.jpg', 'Its name in the tar is not UTF-8: unpack the tar and rename it'],
        ['clip.mp4', 'A recording in a tar is not read: unpack the tar'],
        ['empty.png', 'The file is empty (0 bytes)'],
        ['inner.tar', 'A tar in a tar is not read: unpack the outer one'],
        ['outer.tar.gz', 'A tar in a tar is not read: unpack the outer one'],
        ['sparse.tif', 'A sparse member of a tar is not read: unpack the tar'],
      ],
    );
    assert.deepEqual(passed, ['hard.jpg', 'soft.jpg']);
  }
});

test('of members with one name the last counts, as if it were unpacked', async (t) => {
  const folder = await folderWith(t, ['a.jpg', 'b.jpg']);
  const path = new URL(await temporaryFile(t, 'x.tar', tar(folder))).pathname;
  writeFileSync(join(folder, 'a.jpg'), 'the second');
  execFileSync('tar', ['-r', '-f', path, '-C', folder, 'a.jpg']);
  const { sources } = await list(pathToFileURL(path).href);
  assert.deepEqual(namesOf(sources), ['a.jpg', 'b.jpg']);
  assert.equal(await contentOf(sources[0]!), 'the second');
});

test('a tar that is cut off gives the members before the cut, and itself with the reason', async (t) => {
  const folder = await folderWith(t, ['1.jpg', '2.jpg', '3.jpg']);
  const whole = tar(folder, '--sort=name', '--format=pax');
  const uri = await temporaryFile(t, 'x.tar', whole);
  const { sources } = await list(uri);
  const end = Math.max(...sources.map((source) => Number(/@(\d+)/.exec(source.uri)![1]) + source.sizeBytes));
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: end + 511 }), async (length) => {
      writeFileSync(new URL(uri), whole.subarray(0, length));
      const cut = await list(uri);
      const last = cut.sources.pop()!;
      assert.equal(last.uri, uri);
      assert.match(last.error!, new RegExp(`^The tar is cut off(: it ends)? at byte ${length},`));
      assert.deepEqual(
        cut.sources.map((source) => source.uri),
        sources.slice(0, cut.sources.length).map((source) => source.uri),
      );
      assert.ok(cut.sources.length >= (length > end ? 3 : 0));
    }),
    { numRuns: 60 },
  );
});

test('a damaged tar is listed or refused in sentences, and nothing worse', async (t) => {
  const folder = await folderWith(t, files);
  const whole = tar(folder, '--format=pax');
  const uri = await temporaryFile(t, 'x.tar', whole);
  const heads = Array.from({ length: whole.length / 512 }, (_, block) => block * 512);
  const change = fc.record({ block: fc.constantFrom(...heads), at: fc.nat(511), value: fc.nat(255) });
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), async (changes) => {
      const bytes = Buffer.from(whole);
      for (const { block, at, value } of changes) {
        bytes[block + at] = value;
        // With a right checksum, the damage is believed.
        bytes.write('        ', block + 148);
        const sum = bytes.subarray(block, block + 512).reduce((all, byte) => all + byte, 0);
        bytes.write(`${sum.toString(8).padStart(6, '0')}\0 `, block + 148);
      }
      writeFileSync(new URL(uri), bytes);
      const { sources } = await list(uri).catch((error) => {
        assert.equal(error.name, 'SourceNotFoundError');
        return { sources: [] as Source[] };
      });
      for (const source of sources) if (!source.error) assert.equal((await contentOf(source)).length > 0, true);
    }),
    { numRuns: 150 },
  );
});

test('a file that only looks like a tar, one without images and a compressed one say so', async (t) => {
  const text = await temporaryFile(t, 'x.tar', 'text '.repeat(200));
  assert.equal((await list(text)).sources[0]!.error, 'Not a tar: no header of a member is at byte 0');
  const folder = await folderWith(t, ['a.txt']);
  const uri = await temporaryFile(t, 'x.tar', tar(folder));
  const message = `The tar '${new URL(uri).pathname}' holds no images`;
  await assert.rejects(checkHasSource(uri), { name: 'SourceNotFoundError', message });
  for (const name of ['x.tar.gz', 'x.tgz', 'x.tar.ZST']) {
    const { sources } = await list(await temporaryFile(t, name, 'x'));
    assert.match(sources[0]!.error!, /^A compressed tar is not read: decompress it to a \.tar, or unpack it$/);
  }
});

test('a tar on a server or in a bucket is read by ranges, small members many at once', async (t) => {
  const folder = await folderWith(t, files);
  const large = { name: 'z-large.pgm', bytes: 2 ** 20 };
  writeFileSync(join(folder, large.name), Buffer.alloc(large.bytes, 1));
  const bytes = tar(folder, '--sort=name');
  const expected = await list(pathToFileURL(folder).href);
  let requests = 0;
  const server = await startServer((request, response) => {
    requests++;
    sendFile({ bytes, etag: '"1"' }, request, response);
  });
  t.after(() => server.close());
  const s3 = { accessKeyId: 'AKIDTEST', secretAccessKey: 'a secret', region: 'eu-test-1', bucket: 'pictures' };
  const bucket = await startTestS3(s3);
  t.after(() => bucket.close());
  bucket.objects.set('shards/x.tar', bytes);
  setEnvironment(t, bucket.environment);
  for (const uri of [`${server.origin}/x.tar`, 's3://pictures/shards/x.tar', 's3://pictures/shards']) {
    requests = 0;
    const { sources } = await list(uri);
    const inFolder = uri.endsWith('shards') ? 'x.tar/' : '';
    assert.deepEqual(
      namesOf(sources),
      expected.sources.map(({ name }) => inFolder + name),
      uri,
    );
    assert.ok(requests < 10, `${requests} requests`);
    assert.deepEqual(await contents(sources), await contents(expected.sources), uri);
    assert.ok(sources.every(({ version }) => version?.endsWith(` ${bytes.length}`)));
  }
});

test('a server that cannot send parts says so of each member', async (t) => {
  const bytes = tar(await folderWith(t, ['a.jpg']));
  const server = await startServer((request, response) => {
    sendFile({ bytes, etag: '"1"', withoutRanges: true }, request, response);
  });
  t.after(() => server.close());
  const [source] = (await list(`${server.origin}/x.tar`)).sources;
  const message = 'The server cannot send parts of a file, so its tars are not read: unpack them';
  await assert.rejects(contentOf(source!), { name: 'InputError', stage: 'read', message });
});

test('a tar that was replaced by a shorter one is another version', async (t) => {
  const uri = await temporaryFile(t, 'x.tar', tar(await folderWith(t, ['a.jpg'])));
  const [source] = (await list(uri)).sources;
  writeFileSync(new URL(uri), readFileSync(new URL(uri)).subarray(0, 700));
  await assert.rejects(contentOf(source!), { name: 'InputError', fault: 'changed' });
});
