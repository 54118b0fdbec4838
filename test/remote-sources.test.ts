import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join, relative } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { DuckDBInstance } from '@duckdb/node-api';
import { parseOperation } from '@halogrid/kernels';
import { setVariables } from '@halogrid/sources/testing-files';
import {
  type ServedFile,
  sendFile,
  startServer,
  startTestS3,
  type TestS3,
  type TestServer,
} from '@halogrid/sources/testing-servers';
import { Cluster } from './cluster.ts';
import { command } from './command.ts';
import { halogrid } from './halogrid.ts';
import { drawPicture, writePgm } from './picture-files.ts';
import { hashFiles, readErrors, readHistogram, readJson } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';
import { writeTiledTiff } from './tiled-tiff.ts';

// The place of a source makes no difference: disk, web server and S3 give the same output bytes.

const folder = scratchFolder();
const source = join(folder, 'source');
const fixtures = fileURLToPath(new URL('../libs/imaging/fixtures', import.meta.url));
const secret = 'SECRET/of+the+bucket';
const names = ['1.pgm', '2.jpg', '9.png', '10.webp', '100.tif', '101.tif', '102.pgm'];

/** Files that the web server sends in an unusual way. */
const unusual: Record<string, Partial<ServedFile>> = {
  '2.jpg': { withoutRanges: true },
  '9.png': { withoutRanges: true, withoutLength: true, etag: undefined },
  '100.tif': { etag: undefined, lastModified: 'Mon, 01 Jan 2024 00:00:00 GMT' },
  '101.tif': { withoutRanges: true },
};

let web: TestServer;
let s3: TestS3;
let cluster: Cluster;

before(async () => {
  mkdirSync(source, { recursive: true });
  await writePgm(join(source, '1.pgm'), drawPicture(530, 130));
  await writePgm(join(source, '102.pgm'), drawPicture(31, 20));
  for (const [from, to] of [
    ['420.jpg', '2.jpg'],
    ['rgb.png', '9.png'],
    ['lossless.webp', '10.webp'],
    ['strips.tif', '101.tif'],
  ]) {
    copyFileSync(join(fixtures, from!), join(source, to!));
  }
  const tiles = [drawPicture(64, 64, 2), drawPicture(64, 64, 3), drawPicture(64, 64, 4)];
  await writeTiledTiff(
    join(source, '100.tif'),
    { width: 330, height: 530 },
    64,
    (x, y) => tiles[(x / 64 + y / 64) % 3]!,
  );
  const tar = execFileSync('tar', ['-cf', '-', '-C', source, ...names.toReversed()]);
  writeFileSync(join(folder, 'all.tar'), tar);
  const parquet = await writeParquet(join(folder, 'all.parquet'));
  web = await startServer((request, response) => {
    const name = request.url!.slice(1);
    const part = join(folder, 'map', 'maps', name);
    if (name.startsWith('1.zarr/') && existsSync(part))
      return sendFile({ bytes: readFileSync(part), etag: `"${name}"` }, request, response);
    if (name === 'all.tar') return sendFile({ bytes: tar, etag: '"tar"' }, request, response);
    if (name === 'all.parquet') return sendFile({ bytes: parquet, etag: '"parquet"' }, request, response);
    if (!names.includes(name)) return serveBad(name, request, response);
    sendFile({ bytes: readFileSync(join(source, name)), etag: `"${name}"`, ...unusual[name] }, request, response);
  });
  s3 = await startTestS3({
    accessKeyId: 'AKIDTEST',
    secretAccessKey: secret,
    region: 'eu-1',
    bucket: 'frames',
    pageKeys: 2,
  });
  for (const name of names) s3.objects.set(`day 1/${name}`, readFileSync(join(source, name)));
  s3.objects.set('all.tar', tar);
  s3.objects.set('all.parquet', parquet);
  s3.objects.set('day 1/notes.md', Buffer.from('no image'));
  setVariables(s3.environment);
  writeFileSync(join(folder, 'web.txt'), names.map((name) => `${web.origin}/${name}\n`).join(''));
  s3.objects.set('lists/all.txt', Buffer.from(names.map((name) => `../day 1/${name}`).join('\n')));
  // All its processes inherit the settings for S3.
  cluster = await Cluster.start();
});

/** DuckDB writes the images into a field, as data sets of Hugging Face have them. */
async function writeParquet(path: string): Promise<Buffer> {
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  const rows = names.map(
    (name) => `SELECT content AS bytes, '${name}' AS path FROM read_blob('${join(source, name)}')`,
  );
  const images = `SELECT struct_pack(bytes := bytes, path := path) AS image FROM (${rows.join(' UNION ALL ')})`;
  await connection.run(`COPY (${images}) TO '${path}' (FORMAT parquet)`);
  return readFileSync(path);
}

after(() => Promise.all([cluster?.stop(), web?.close(), s3?.close()]));

describe('the same digest and maps from disk, a web server and S3, and from tars and Parquet files there', () => {
  for (const tilePx of [0, 100]) {
    test(tilePx ? `in tiles of ${tilePx} px` : 'whole', async () => {
      const outcomeOf = async (from: string, ...sources: string[]): Promise<Outcome> => {
        const out = join(folder, `${from}-${tilePx}`);
        await cluster.jobs.run({ sources, out, border: 'mirror', map: 'tiff', tilePx });
        assertNoSecret(out);
        return readOutcome(out);
      };
      const disk = await outcomeOf('disk', source);
      assert.equal(Object.keys(disk.maps).length, names.length);
      assert.deepEqual(await outcomeOf('web', join(folder, 'web.txt')), disk);
      assert.deepEqual(await outcomeOf('s3', 's3://frames/day 1'), disk);
      assert.deepEqual(await outcomeOf('tar-on-web', `${web.origin}/all.tar`), disk);
      assert.deepEqual(await outcomeOf('parquet', join(folder, 'all.parquet')), disk);
      assert.deepEqual(await outcomeOf('parquet-on-web', `${web.origin}/all.parquet`), disk);
      // Names of sources are tested without tiles only, because the two are independent.
      if (tilePx) return;
      assert.deepEqual(await outcomeOf('tar', join(folder, 'all.tar')), disk);
      assert.deepEqual(await outcomeOf('urls', ...names.map((name) => `${web.origin}/${name}`)), disk);
      assert.deepEqual(await outcomeOf('tar-in-s3', 's3://frames/all.tar'), disk);
      assert.deepEqual(await outcomeOf('parquet-in-s3', 's3://frames/all.parquet'), disk);
      assert.deepEqual(await outcomeOf('list', 's3://frames/lists/all.txt'), disk);
      const glob = await outcomeOf('glob', 's3://frames/day*/{1,2,9,10,100,101,102}.???*');
      assert.deepEqual(withoutNames(glob), withoutNames(disk));
    });
  }
});

test('the planes of a Zarr of our own are the same from disk, a web server and S3, in tiles of any size', async () => {
  // Three planes in shards.
  const operations = [parseOperation('conv:kernel=sobel,channels=rgb,as=u8')];
  await cluster.jobs.run({ sources: [join(source, '1.pgm')], out: join(folder, 'map'), operations, map: 'zarr' });
  const zarr = join(folder, 'map', 'maps', '1.zarr');
  const files = readdirSync(zarr, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  for (const { parentPath, name } of files) {
    const path = join(parentPath, name);
    s3.objects.set(`scans/1.zarr/${relative(zarr, path)}`, readFileSync(path));
  }
  const places = { disk: zarr, web: `${web.origin}/1.zarr/`, s3: 's3://frames/scans' };
  const outcomes = new Map<string, Outcome>();
  for (const [place, uri] of Object.entries(places)) {
    for (const tilePx of place === 'disk' ? [0, 100] : [100]) {
      const out = join(folder, `zarr-${place}-${tilePx}`);
      await cluster.jobs.run({ sources: [uri], out, map: 'tiff', tilePx });
      outcomes.set(`${place} in tiles of ${tilePx}`, readOutcome(out));
    }
  }
  const [first, ...others] = [...outcomes.values()];
  assert.deepEqual(Object.keys(first!.maps), ['1.zarr-c0.tif', '1.zarr-c1.tif', '1.zarr-c2.tif']);
  for (const outcome of others) assert.deepEqual(outcome, first);
});

test('files on servers are recognised by ETag when the output is made again, in a manifest and in a bucket', async (t) => {
  const bytes = new Map<string, Buffer>();
  for (let i = 0; i < 4; i++) {
    await writePgm(join(folder, 'picture.pgm'), drawPicture(30 + i, 20, i));
    bytes.set(`${i}.pgm`, readFileSync(join(folder, 'picture.pgm')));
  }
  const versions = new Map([...bytes.keys()].map((name) => [name, 1]));
  const server = await startServer((request, response) => {
    const name = request.url!.slice(1);
    // The last one has no ETag, so it is unknown whether it is the same.
    const etag = name === '3.pgm' ? undefined : `"${versions.get(name)}"`;
    sendFile({ bytes: bytes.get(name)!, etag }, request, response);
  });
  t.after(() => server.close());
  const manifest = join(folder, 'manifest.txt');
  writeFileSync(manifest, [...bytes.keys()].map((name) => `${server.origin}/${name}\n`).join(''));
  const out = join(folder, 'served');
  await cluster.jobs.run({ sources: [manifest], out });
  bytes.set('1.pgm', bytes.get('2.pgm')!);
  versions.set('1.pgm', 2);
  assert.deepEqual(await changesIn(out, manifest), { kept: 2, new: 0, changed: 1, again: 1, removed: 0 });

  for (const [name, content] of bytes) s3.objects.set(`grown/${name}`, content);
  const bucketOut = join(folder, 'bucket');
  await cluster.jobs.run({ sources: ['s3://frames/grown'], out: bucketOut });
  s3.objects.set('grown/9.pgm', bytes.get('0.pgm')!);
  s3.objects.set('grown/3.pgm', bytes.get('0.pgm')!);
  s3.objects.delete('grown/2.pgm');
  const changes = await changesIn(bucketOut, 's3://frames/grown');
  assert.deepEqual(changes, { kept: 2, new: 1, changed: 1, again: 0, removed: 1 });
});

/** Makes an output again and checks that it is as if made afresh; resolves with what changed. */
async function changesIn(out: string, source: string): Promise<Record<string, number>> {
  await cluster.jobs.run({ sources: [source], out });
  await cluster.jobs.run({ sources: [source], out: `${out}-fresh` });
  assert.deepEqual(lasting(out), lasting(`${out}-fresh`));
  const { kept, new: added, changed, again, removed } = readJson(out, 'job.json').incremental;
  return { kept, new: added, changed, again, removed };
}

/** All but what says which job made an output, and when. */
const lasting = (out: string) => ({
  files: { ...hashFiles(out), 'job.json': undefined },
  digest: readJson(out, 'job.json').digest,
  sources: readJson(out, 'job.json').sources,
});

test('run: its processes get the settings for S3', async () => {
  const out = join(folder, 'run');
  const job = ['run', 's3://frames/day 1/', '--border', 'mirror', '--map', 'tiff', '--out', out];
  const { code, stdout, stderr } = await command([...job, '--device', 'cpu']);
  assert.equal(code, 0, stderr);
  assertNoSecret(out, stdout, stderr);
  assert.deepEqual(readOutcome(out), readOutcome(join(folder, 'disk-0')));
});

/** What every job on these sources must give. */
interface Outcome {
  digest: string;
  maps: Record<string, string>;
  previews: Record<string, string>;
  histogram: object;
}

function readOutcome(out: string): Outcome {
  return {
    digest: readJson(out, 'job.json').digest,
    maps: hashFiles(out, 'maps'),
    previews: hashFiles(out, 'preview'),
    histogram: readHistogram(out),
  };
}

const withoutNames = ({ digest, maps, histogram }: Outcome) => ({
  digest,
  maps: Object.values(maps).sort(),
  histogram,
});

/** Each bad input on the web server, and what the sentence must say. */
const bad: Record<string, RegExp> = {
  'denied.png': /^The server refuses access: 403 Forbidden$/,
  'failing.png': /^The server failed: 500 Internal Server Error \(4 attempts\)$/,
  'cut.png': /^The host '127.0.0.1:\d+' sent \d+ of the \d+ bytes that it announced \(4 attempts\)$/,
  'page.png': /^Not an image: the file starts with the text "<!DOCTYPE html>/,
  'endless.png': /^The server redirects more than 5 times$/,
  'elsewhere.png': /^The server redirects to 'http:\/\/elsewhere.invalid', and only redirections within /,
  'changing.pgm': /^The file (changed while it was read: |is not what it was when the job was planned)/,
};

let changes = 0;

function serveBad(name: string, request: IncomingMessage, response: ServerResponse): void {
  const redirect = (location: string) => response.writeHead(302, { location }).end();
  if (name === 'denied.png') response.writeHead(403).end();
  else if (name === 'failing.png') response.writeHead(500).end();
  else if (name === 'cut.png') {
    sendFile({ bytes: readFileSync(join(fixtures, 'rgb.png')), cutAfter: 1000 }, request, response);
  } else if (name === 'page.png') response.end('<!DOCTYPE html><title>Log in</title>');
  else if (name === 'endless.png') redirect('/endless.png');
  else if (name === 'elsewhere.png') redirect('http://elsewhere.invalid/1.png');
  else if (name === 'changing.pgm') {
    const bytes = Buffer.concat([Buffer.from('P5\n400 400\n255\n'), Buffer.alloc(160_000)]);
    sendFile({ bytes, etag: `"${changes++}"` }, request, response);
  } else response.writeHead(404).end();
}

test('files that servers do not deliver are set aside, each with its sentence', async () => {
  const out = join(folder, 'bad');
  const uris: Record<string, RegExp> = {
    ...Object.fromEntries(Object.entries(bad).map(([name, sentence]) => [`${web.origin}/${name}`, sentence])),
    // The URI as it is shown; the requested one has a password.
    'http://127.0.0.1/a.png': /^A URI with a user name or password is not supported/,
    's3://frames/no such key.png': /^There is no 'no such key.png' in the bucket 'frames': 404 NoSuchKey$/,
    's3://others/a.png': /^The bucket 'others' does not exist: 404 NoSuchBucket$/,
    [`${web.origin}/none.png`]: /^The server has no such file: 404 Not Found$/,
    'ftp://host/a.png': /^'ftp:\/\/host\/a.png' is not supported/,
  };
  const manifest = join(folder, 'bad.txt');
  const asked = Object.keys(uris).map((uri) => uri.replace('//127.0.0.1/', '//me:password@127.0.0.1/'));
  writeFileSync(manifest, [...asked, `${web.origin}/102.pgm`].join('\n'));
  const { code, stdout, stderr } = await cluster.halogrid(['run', manifest, '--out', out, '--json']);
  assert.equal(code, 3, stderr);
  assertNoSecret(out, stdout, stderr);
  const errors = readErrors(out);
  assert.deepEqual(errors.map(({ uri }) => uri).sort(), Object.keys(uris).sort());
  for (const { uri, error, stage } of errors) {
    assert.match(error, uris[uri]!, uri);
    assert.doesNotMatch(error, /\n/);
    assert.equal(stage, uri.endsWith('page.png') ? 'decode' : 'read', error);
  }
  assert.equal(readHistogram(out).counted, 29 * 18);
});

test('a host that cannot be reached fails the job, and sets nothing aside', async () => {
  const out = join(folder, 'away');
  const atOnce = '0';
  const job = ['run', 'http://nowhere.invalid/a.png', '--source-grace', atOnce, '--out', out];
  const ended = await command([...job, '--device', 'cpu']);
  assert.equal(ended.code, 1, ended.stderr);
  assert.match(ended.stderr, /The host 'nowhere.invalid' was away.*: there is no address for its name/);
  const { state, counts } = readJson(out, 'job.json');
  assert.deepEqual([state, counts?.quarantined ?? 0], ['failed', 0]);
});

test('a wrong key for S3 is reported with the bucket and the key', async () => {
  const out = join(folder, 'denied');
  const before = process.env.AWS_SECRET_ACCESS_KEY;
  process.env.AWS_SECRET_ACCESS_KEY = `${secret}+wrong`;
  try {
    const ended = await halogrid(['run', 's3://frames/day 1/1.pgm', '--out', out, '--device', 'cpu']);
    assert.equal(ended.code, 3, ended.stderr);
    assertNoSecret(out, ended.stdout, ended.stderr);
    const sentence = "Access to 'day 1/1.pgm' in the bucket 'frames' is denied: 403 SignatureDoesNotMatch";
    assert.deepEqual(
      readErrors(out).map(({ error }) => error),
      [sentence],
    );
  } finally {
    process.env.AWS_SECRET_ACCESS_KEY = before;
  }
});

test('a source that is known to be missing is refused, and so is an output on a server', async () => {
  const refused: [args: string[], sentence: RegExp][] = [
    [[`${web.origin}/none.png`], /\/none\.png' does not exist: The server has no such file: 404 Not Found\n$/],
    [['s3://frames/nothing/'], /'s3:\/\/frames\/nothing\/' holds no images: it has no objects\n$/],
    [['s3://frames/*.jpg'], /No object matches 's3:\/\/frames\/\*\.jpg'\n$/],
    [['http://me:password@127.0.0.1/a.png'], /A URI with a user name or password is not supported/],
    [
      [source, '--out', 'http://frames/out'],
      /'http:\/\/frames\/out' is not supported: expected a path, or a URI of file: or s3:/,
    ],
  ];
  for (const [args, sentence] of refused) {
    const { code, stdout, stderr } = await cluster.halogrid(['run', ...args], { cwd: folder });
    assert.match(stderr, /^halogrid: [^\n]+\n$/);
    assert.match(stderr, sentence);
    assert.doesNotMatch(stderr, /password@/);
    assert.deepEqual([code, stdout], [2, '']);
  }
});

/** Asserts that the secret is in nothing that a job prints or writes. */
function assertNoSecret(out: string, ...texts: string[]): void {
  const files = readdirSync(out, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const contents = files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1'));
  assert.ok(contents.length > 3);
  for (const text of [...texts, ...contents]) assert.ok(!text.includes('SECRET'));
}
