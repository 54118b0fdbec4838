// Videos on servers, and on disks that a node does not see: the same output bytes as from files, and errors.

import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { deepKinds, makeVideo, noFfmpeg, videoKinds } from '@halogrid/imaging/testing-videos';
import { setVariables } from '@halogrid/sources/testing-files';
import {
  type ServedFile,
  sendFile,
  startServer,
  startTestS3,
  type TestS3,
  type TestServer,
} from '@halogrid/sources/testing-servers';
import { eventually } from '@halogrid/testing';
import { Cluster, type ClusterNode, startNode } from './cluster.ts';
import { readErrors, readHistogram, readJson } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';

const skip = noFfmpeg;
const folder = scratchFolder();
const source = join(folder, 'cams');
const secret = 'SECRET/of+the+bucket';
const names = ['day/deep.mkv', 'gate.ts', 'yard.mp4'];
const served = new Map<string, ServedFile>();
let web: TestServer;
let s3: TestS3;
/** A cluster without nodes until a test starts some. */
let cluster: Cluster;
/** The digests of the same videos from all places and for all cuts; there must be only one. */
const digests = new Set<string>();

before(async () => {
  if (skip) return;
  mkdirSync(join(source, 'day'), { recursive: true });
  mkdirSync(join(folder, 'empty'));
  makeVideo(join(source, 'day/deep.mkv'), deepKinds['hevc-10-full.mkv']!.encoder);
  makeVideo(join(source, 'gate.ts'), videoKinds['h264-open.ts']!);
  makeVideo(join(source, 'yard.mp4'), videoKinds['h264.mp4']!);
  web = await startServer((request, response) => {
    const name = request.url!.slice(1).split('?')[0]!;
    const file = served.get(name);
    if (file) sendFile(file, request, response);
    else response.writeHead(name.startsWith('denied') ? 403 : 404).end();
  });
  for (const name of names) served.set(name, { bytes: readFileSync(join(source, name)), etag: `"${name}"` });
  s3 = await startTestS3({ accessKeyId: 'AKIDTEST', secretAccessKey: secret, region: 'eu-1', bucket: 'archive' });
  for (const name of names) s3.objects.set(`cams/${name}`, readFileSync(join(source, name)));
  s3.objects.set('cams/notes.md', Buffer.from('no video'));
  setVariables(s3.environment);
  writeFileSync(join(folder, 'web.txt'), names.map((name) => `${web.origin}/${name}?token=SECRET\n`).join(''));
  cluster = await Cluster.start({ nodes: 0 });
});

after(() => Promise.all([cluster?.stop(), web?.close(), s3?.close()]));

const digestOf = (out: string): string => readJson(out, 'job.json').digest;

/** Plans a job, changes one of its videos, and then starts the node. */
async function changeBeforeRead(where: 'web' | 'disk', node: string, options: readonly string[] = []): Promise<void> {
  const path = join(folder, where, 'changing.mp4');
  mkdirSync(dirname(path));
  const bytes = readFileSync(join(source, 'yard.mp4'));
  writeFileSync(path, bytes);
  served.set('changing.mp4', { bytes, etag: '"1"' });
  const uri = where === 'web' ? `${web.origin}/changing.mp4` : pathToFileURL(path).href;
  const out = join(folder, `changed-${where}`);
  const still = join(source, 'gate.ts');
  const jobId = await cluster.jobs.submit({ sources: [where === 'web' ? uri : path, still], out, batchFrames: 12 });
  await eventually('the plan', async () => (await cluster.job(jobId))?.planned);
  writeFileSync(path, bytes);
  served.set('changing.mp4', { bytes, etag: '"2"' });
  await cluster.adopt(await startNode(cluster.address, node, 'cpu', options));
  await cluster.jobs.untilEnded(jobId);
  const errors = readErrors(out);
  assert.equal(errors.length, 48);
  assert.equal(readJson(out, 'job.json').counts.frames, 48);
  for (const error of errors) {
    assert.equal(error.uri, uri);
    assert.match(error.error, /^(The video has changed since the job was planned|The file changed while it was read)/);
  }
}

test('a node without shared storage decodes videos from the coordinator and from servers; a video that changes between plan and read is set aside', {
  skip,
}, async () => {
  const only = ['--storage', 'remote', '--data-root', join(folder, 'empty'), '--allow-host', '127.0.0.1'];
  await changeBeforeRead('disk', 'remote', only);
  for (const [i, from] of [source, 's3://archive/cams'].entries()) {
    const out = join(folder, `handed-${i}`);
    await cluster.jobs.run({ sources: [from], out, batchFrames: 20 });
    assert.equal(readJson(out, 'job.json').counts.quarantined, 0);
    digests.add(digestOf(out));
  }
  assert.equal(digests.size, 1);
  const [{ program }] = cluster.nodes.splice(0) as [ClusterNode];
  program.signal('SIGTERM');
  await program.ended;
});

test('a video on a server that changes between plan and read is set aside', { skip }, async () => {
  await changeBeforeRead('web', 'n1');
  await cluster.startNode('n2');
});

test('videos from disk, a web server and S3 have the same digest for any cut', { skip }, async () => {
  const outcomeOf = async (name: string, batchFrames: number, ...sources: string[]) => {
    const out = join(folder, `${name}-${batchFrames}`);
    await cluster.jobs.run({ sources, out, batchFrames });
    assertNoSecret(out);
    return { digest: digestOf(out), histogram: readHistogram(out) };
  };
  const disk = await outcomeOf('disk', 0, source);
  assert.equal(readJson(folder, 'disk-0', 'job.json').counts.frames, 3 * 48);
  assert.deepEqual(await outcomeOf('s3', 16, 's3://archive/cams'), disk);
  assert.deepEqual(await outcomeOf('web', 40, join(folder, 'web.txt')), disk);
  assert.equal(digests.add(disk.digest).size, 1);
});

test('run reads a URL with a token in it, never shows the token, and keeps results of unchanged sources', {
  skip,
}, async () => {
  const uri = `${web.origin}/yard.mp4?token=SECRET`;
  const out = join(folder, 'run');
  const args = ['run', uri, '--every', '3', '--out', out];
  for (const kept of [undefined, 16]) {
    const { code, stdout, stderr } = await cluster.halogrid(args);
    assert.equal(code, 0, stderr);
    const job = readJson(out, 'job.json');
    assert.equal(job.counts.frames, 16);
    assert.equal(job.incremental?.kept, kept);
    assertNoSecret(out, stdout, stderr);
  }
  const local = join(folder, 'run-local');
  const ended = await cluster.halogrid(['run', join(source, 'yard.mp4'), ...args.slice(2, -1), local]);
  assert.equal(ended.code, 0, ended.stderr);
  assert.equal(digestOf(out), digestOf(local));
});

test('frames that servers do not deliver are set aside with a sentence, and the rest counts', {
  skip,
}, async () => {
  const yard = readFileSync(join(source, 'yard.mp4'));
  served.set('short.mp4', { bytes: yard.subarray(0, yard.length >> 1), etag: '"1"' });
  served.set('ending.mp4', { bytes: yard, etag: '"1"', cutAfter: 1000 });
  served.set('long.mp4', { bytes: Buffer.concat([yard, Buffer.alloc(2 ** 25)]), withoutRanges: true });
  served.set('whole.mp4', { bytes: yard, withoutRanges: true, withoutLength: true });
  served.set('text.mp4', { bytes: Buffer.from('no video at all') });
  const expected: Record<string, RegExp> = {
    [`${web.origin}/denied.mp4`]: /^The server refuses access: 403 Forbidden$/,
    [`${web.origin}/ending.mp4`]:
      /^The host '127.0.0.1:\d+' sent \d+ of the \d+ bytes that it announced \(4 attempts\)$/,
    [`${web.origin}/long.mp4`]:
      /^The file is too long: at most 33554432 bytes are read of a server that cannot send parts/,
    [`${web.origin}/none.mp4`]: /^The server has no such file: 404 Not Found$/,
    [`${web.origin}/short.mp4`]: /^The file has no index \(moov\)/,
    [`${web.origin}/text.mp4`]: /^Not an image: the file starts with the text "no video at all"$/,
    's3://archive/no such.mp4': /^There is no 'no such.mp4' in the bucket 'archive': 404 NoSuchKey$/,
  };
  const list = join(folder, 'bad.txt');
  writeFileSync(list, [...Object.keys(expected), `${web.origin}/whole.mp4`].join('\n'));
  const out = join(folder, 'bad');
  const { code, stderr } = await cluster.halogrid(['run', list, '--out', out]);
  assert.equal(code, 3, stderr);
  const errors = readErrors(out);
  assert.deepEqual(errors.map(({ uri }) => uri).sort(), Object.keys(expected).sort());
  for (const { uri, error } of errors) assert.match(error, expected[uri]!, uri);
  assert.equal(readJson(out, 'job.json').counts.frames, 48);
});

/** Asserts that the secret is in nothing that a job prints or writes. */
function assertNoSecret(out: string, ...texts: string[]): void {
  const files = readdirSync(out, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const contents = files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1'));
  assert.ok(contents.length > 3);
  for (const text of [...texts, ...contents]) assert.ok(!text.includes('SECRET'));
}
