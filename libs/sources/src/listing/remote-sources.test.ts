import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { within } from '@halogrid/testing';
import fc from 'fast-check';
import { openInputFile } from '../files/input-file.ts';
import type { PassedOver } from '../globs/selection.ts';
import { sendFile, startServer, startTestS3, type TestS3, type TestS3Options } from '../testing/servers.ts';
import { setEnvironment, temporaryFolder } from '../testing/temporary-files.ts';
import type { Source } from './source.ts';
import { checkHasSource, listAllSources, listSources } from './sources.ts';

const options = {
  accessKeyId: 'AKIDTEST',
  secretAccessKey: 'a/secret+key',
  sessionToken: 'a session',
  region: 'eu-test-1',
  bucket: 'pictures',
  pageKeys: 3,
};

/** An S3 with objects of these names, each with its own name as content. */
async function bucketOf(t: TestContext, ...keys: string[]): Promise<TestS3> {
  return await bucketWith(t, {}, ...keys);
}

async function bucketWith(t: TestContext, more: Partial<TestS3Options>, ...keys: string[]): Promise<TestS3> {
  const server = await startTestS3({ ...options, ...more });
  t.after(() => server.close());
  for (const key of keys) server.objects.set(key, Buffer.from(key));
  setEnvironment(t, server.environment);
  return server;
}

async function list(uri: string): Promise<Source[]> {
  const sources: Source[] = [];
  for await (const source of listSources(uri)) sources.push(source);
  return sources;
}

const names = async (uri: string) => (await list(uri)).map(({ name }) => name);

const notFound = (message: string | RegExp) => ({ name: 'SourceNotFoundError', message });

test('an object is itself, whatever its name, with its size', async (t) => {
  const server = await bucketOf(t, 'x/image.dat', 'x/*.jpg', 'x/ab.jpg');
  assert.deepEqual(await list('s3://pictures/x/image.dat'), [
    {
      uri: 's3://pictures/x/image.dat',
      name: 'image.dat',
      sizeBytes: 11,
      named: true,
      version: `"${createHash('md5').update(server.objects.get('x/image.dat')!).digest('hex')}" 11`,
    },
  ]);
  assert.deepEqual(await names('s3://pictures/x/*.jpg'), ['*.jpg']);
});

test('a folder is the images below it, page after page, as on disk', async (t) => {
  const server = await bucketOf(
    t,
    ...['f10.jpg', 'f9.JPG', 'f100.jpg', 'sub/2.png', 'sub/10.tiff', 'a.gif', '.hidden.jpg', '.git/x.png'],
    ...['notes.md', 'noextension', 'sub/', 'zz.jpg/inside.webp', 'é 1+2&<3>%20.png', 'other/x.png'],
  );
  server.objects.set('f', Buffer.alloc(0));
  const expected = ['a.gif', 'f9.JPG', 'f10.jpg', 'f100.jpg', 'other/x.png', 'sub/2.png', 'sub/10.tiff'];
  assert.deepEqual(await names('s3://pictures'), [...expected, 'zz.jpg/inside.webp', 'é 1+2&<3>%20.png']);
  const inside = await list('s3://pictures/sub');
  const versions = inside.map(({ version }) => version!);
  assert.deepEqual(inside, [
    { uri: 's3://pictures/sub/2.png', name: '2.png', sizeBytes: 9, named: false, version: versions[0] },
    { uri: 's3://pictures/sub/10.tiff', name: '10.tiff', sizeBytes: 11, named: false, version: versions[1] },
  ]);
  assert.ok(versions[0] !== versions[1] && versions.every((version) => /^[\w-]{16}$/.test(version)), versions.join());
});

test('every object of a folder is an input or reported', async (t) => {
  await bucketOf(t, 'a/1.jpg', 'a/b.txt', 'a/.x.jpg', 'a/deep/c', 'a/deep/2.jpg', 'a/@eaDir/3.jpg', 'a/#recycle/4.jpg');
  const told: string[] = [];
  const onPassedOver = ({ path, isFolder }: PassedOver) => {
    told.push(path + (isFolder ? '/' : ''));
  };
  const listed = await Array.fromAsync(listAllSources(['s3://pictures/a'], { onPassedOver }));
  assert.deepEqual(
    listed.flat().map(({ name }) => name),
    ['1.jpg', 'deep/2.jpg'],
  );
  assert.deepEqual(
    told.sort(),
    ['#recycle/', '.x.jpg', '@eaDir/', 'b.txt', 'deep/c'].map((name) => `s3://pictures/a/${name}`),
  );
});

test('a glob is the objects that it matches', async (t) => {
  const server = await bucketOf(
    t,
    'a/f10.jpg',
    'a/f9.jpg',
    'b/f1.jpg',
    'b/f1.png',
    'b/.f2.jpg',
    'b/deep/f3.jpg',
    'c.jpg',
  );
  assert.deepEqual(await names('s3://pictures/*/*.jpg'), ['a/f9.jpg', 'a/f10.jpg', 'b/f1.jpg']);
  assert.deepEqual(await names('s3://pictures/b/**/f?.jpg'), ['deep/f3.jpg', 'f1.jpg']);
  server.requests.length = 0;
  assert.deepEqual(await names('s3://pictures/a/*'), ['f9.jpg', 'f10.jpg']);
  assert.ok(
    server.requests.every((request) => !/prefix=(&|$|b)/.test(request)),
    'other folders were listed',
  );
  await assert.rejects(list('s3://pictures/*.tif'), notFound("No object matches 's3://pictures/*.tif'"));
});

test('the same names have the same order in a bucket as on disk', async (t) => {
  const server = await bucketOf(t);
  const part = fc.stringMatching(/^[a-c0-3é]{1,3}$/);
  const name = fc
    .tuple(fc.array(part, { maxLength: 2 }), part)
    .map(([folders, file]) => [...folders, `${file}.png`].join('/'));
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(name, { minLength: 1, maxLength: 20 }), async (paths) => {
      const folder = await temporaryFolder(t);
      server.objects.clear();
      for (const path of paths) {
        await mkdir(dirname(join(folder, path)), { recursive: true });
        await writeFile(join(folder, path), '');
        server.objects.set(`in/${path}`, Buffer.alloc(0));
      }
      assert.deepEqual(await names('s3://pictures/in/'), await names(pathToFileURL(folder).href));
    }),
    { numRuns: 20 },
  );
});

test('folders of a bucket are asked for side by side, and come in order', async (t) => {
  const paths = Array.from({ length: 30 }, (_, day) => [`in/day-${day}/a.png`, `in/day-${day}/b/c.png`]).flat();
  const eightWait = Promise.withResolvers<void>();
  let asked = 0;
  const beforeList = async (): Promise<void> => {
    // The first is of the folder that they are in, and waits for nobody.
    if (++asked === 9) eightWait.resolve();
    if (asked > 1) await eightWait.promise;
  };
  const server = await bucketWith(t, { beforeList, pageKeys: 1000 }, ...paths);
  assert.deepEqual(
    await within('lists of eight folders at once', names('s3://pictures/in/')),
    paths.map((path) => path.slice('in/'.length)),
  );
  assert.equal(server.requests.length, new Set(server.requests).size);
});

test('finding the first input does not list everything', async (t) => {
  const server = await bucketOf(t, ...Array.from({ length: 100 }, (_, i) => `in/${i}.png`));
  await checkHasSource('s3://pictures/in');
  assert.ok(server.requests.length <= 3, server.requests.join('\n'));
});

test('a missing object or bucket is reported as missing', async (t) => {
  await bucketOf(t, 'a/b.md');
  await assert.rejects(list('s3://pictures/none.jpg'), notFound("'s3://pictures/none.jpg' does not exist"));
  await assert.rejects(
    list('s3://pictures/none/'),
    notFound("'s3://pictures/none/' holds no images: it has no objects"),
  );
  await assert.rejects(list('s3://pictures/a'), notFound(/holds no images: its only object does not have the exte/));
  await assert.rejects(list('s3://another/'), notFound("The bucket 'another' does not exist: 404 NoSuchBucket"));
});

test('denied access is reported with the bucket and the key, but no secret', async (t) => {
  await bucketOf(t, 'a.jpg');
  const denied = (message: RegExp) => (error: Error) => {
    assert.match(error.message, message);
    assert.doesNotMatch(error.message, /AKID|secret|session/);
    return true;
  };
  setEnvironment(t, { AWS_SECRET_ACCESS_KEY: 'another secret' });
  assert.deepEqual(await names('s3://pictures/a.jpg'), ['a.jpg']);
  const wrong = /^Access to 'a.jpg' in the bucket 'pictures' is denied: 403 SignatureDoesNotMatch$/;
  await assert.rejects(openInputFile('s3://pictures/a.jpg'), denied(wrong));
  await assert.rejects(list('s3://pictures/'), denied(/^Access to the bucket 'pictures' is denied: 403 /));
  setEnvironment(t, { AWS_SECRET_ACCESS_KEY: undefined });
  await assert.rejects(
    openInputFile('s3://pictures/a.jpg'),
    denied(/ half of the S3 credentials .* AWS_SECRET_ACCESS_KEY is/),
  );
  setEnvironment(t, { AWS_ACCESS_KEY_ID: undefined });
  await assert.rejects(
    openInputFile('s3://pictures/a.jpg'),
    denied(/is denied, asked for without credentials: 403 AccessD/),
  );
});

test('a manifest on a server names files beside it and elsewhere', async (t) => {
  const server = await bucketOf(t, 'lists/a 1.jpg', 'b.jpg');
  const web = await startServer((request, response) => {
    if (request.url === '/none.txt') response.writeHead(404).end();
    else if (request.url !== '/in/list.txt') sendFile({ bytes: Buffer.alloc(5) }, request, response);
    else {
      const bytes = Buffer.from(
        '\ufeff# of today\r\n\r\nc d%20.jpg\r\n/e.png?x=1\nftp://h/f.jpg\nfile:///etc/passwd\n',
      );
      sendFile({ bytes }, request, response);
    }
  });
  t.after(() => web.close());
  const local = join(await temporaryFolder(t), 'local.txt');
  await writeFile(local, `s3://pictures/b.jpg\n${web.origin}/x.jpg\n`);
  server.objects.set('lists/all.txt', Buffer.from(`a 1.jpg\n../b.jpg\n${web.origin}/x.jpg\ns3://pictures/b.jpg`));
  const entries = async (uri: string) => (await list(uri)).map(({ uri, name, sizeBytes }) => [uri, name, sizeBytes]);
  assert.deepEqual(await entries('s3://pictures/lists/all.txt'), [
    ['s3://pictures/lists/a 1.jpg', 'a 1.jpg', 13],
    ['s3://pictures/b.jpg', 'b.jpg', 5],
    [`${web.origin}/x.jpg`, 'x.jpg', 5],
    ['s3://pictures/b.jpg', 'b.jpg', 5],
  ]);
  assert.deepEqual(await entries(pathToFileURL(local).href), [
    ['s3://pictures/b.jpg', 'b.jpg', 5],
    [`${web.origin}/x.jpg`, 'x.jpg', 5],
  ]);
  const onWeb = await list(`${web.origin}/in/list.txt`);
  assert.deepEqual(
    onWeb.map(({ uri, error }) => [uri, error !== undefined]),
    [
      [`${web.origin}/in/c%20d%20.jpg`, false],
      [`${web.origin}/e.png?x=1`, false],
      ['ftp://h/f.jpg', true],
      ['file:///etc/passwd', true],
    ],
  );
  await assert.rejects(list(`${web.origin}/none.txt`), notFound(/\/none.txt' does not exist: .* 404 Not Found$/));
});

test('a URI on a web server is a file unless the server says that there is none', async (t) => {
  const web = await startServer((request, response) => {
    if (request.url?.startsWith('/denied')) response.writeHead(403).end();
    else if (request.url?.startsWith('/none')) response.writeHead(404).end();
    else sendFile({ bytes: Buffer.alloc(9) }, request, response);
  });
  t.after(() => web.close());
  const uri = `${web.origin}/folder/a%20b.jpg?token=secret`;
  assert.deepEqual(await list(uri), [{ uri, name: 'a b.jpg', sizeBytes: 9, named: true }]);
  assert.deepEqual(await names(`${web.origin}/denied.jpg`), ['denied.jpg']);
  assert.deepEqual(await names('http://nowhere.invalid/'), ['nowhere.invalid']);
  await assert.rejects(list(`${web.origin}/none.jpg?token=secret`), (error: Error) => !/secret/.test(error.message));
});
