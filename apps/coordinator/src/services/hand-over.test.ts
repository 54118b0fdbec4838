import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { JobSpec, Lease } from '@halogrid/proto';
import { setStage, specOf, submit, writeImages } from '../testing/coordinator-stage.ts';
import { leasedSources } from '../testing/leased-sources.ts';
import { ScriptedNode } from './testing/scripted-node.ts';

const digestOf = (text: string): string => `sha-256=:${createHash('sha256').update(text).digest('base64')}:`;

/** A node of remote storage that holds the lease of one image of two. */
async function holdLease(t: TestContext, more: Partial<JobSpec> = {}) {
  const stage = await setStage(t);
  const uris = await writeImages(stage.folder, 2);
  const job = await submit(stage.jobs, specOf(stage.folder, uris, { mapFormat: 'tiff', ...more }));
  const node = await ScriptedNode.attach(stage.coordinator.grpcPort, { remoteStorage: true, creditBytes: 1 });
  t.after(() => node.hangUp());
  const lease: Lease = await node.next('lease');
  const ask = async (path: string, init?: RequestInit) => {
    const response = await fetch(`http://127.0.0.1:${stage.coordinator.httpPort}${path}`, init);
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  return { ...stage, uris, job, node, lease, ask, base: lease.handOver };
}

test('a node of remote storage gets the sources of its leases, whole and in parts, and no others', async (t) => {
  const { uris, lease, ask, base } = await holdLease(t);
  assert.match(base, /^\/handover\/[^/]+\/[\w-]{43}$/);
  const bytes = await readFile(fileURLToPath(uris[0]!), 'latin1');
  const whole = await ask(`${base}/sources/0/image-0.pgm`);
  assert.deepEqual([whole.status, Buffer.from(whole.text, 'utf8').length > 0], [200, true]);
  assert.equal(whole.headers.get('content-length'), String(bytes.length));
  const part = await ask(`${base}/sources/0/x`, { headers: { range: 'bytes=3-5' } });
  assert.deepEqual([part.status, part.text], [206, '7 5']);
  assert.equal(part.headers.get('content-range'), `bytes 3-5/${bytes.length}`);
  const etag = whole.headers.get('etag')!;
  const beyond = { headers: { range: 'bytes=9999-10000' } };
  for (const [path, init, status] of [
    [`${base}/sources/0/x`, { headers: { 'if-match': etag } }, 200],
    [`${base}/sources/0/x`, { headers: { 'if-match': '"other"' } }, 412],
    [`${base}/sources/0/x`, beyond, 416],
    [`${base}/sources/1/image-1.pgm`, {}, 404],
    [`${base}/sources/..%2f..%2fetc/passwd`, {}, 404],
    [`${base}x/sources/0/x`, {}, 403],
    [`/handover/${lease.jobId}/${'A'.repeat(43)}/sources/0/x`, {}, 403],
    [`/handover/other/${base.split('/')[3]}/sources/0/x`, {}, 403],
    ['/handover', {}, 403],
    ['/handover/%E0%A4%A/x/sources/0', {}, 403],
    [`${base}/sources/0/x`, { method: 'DELETE' }, 405],
  ] as const) {
    assert.equal((await ask(path, init)).status, status, `${path} ${JSON.stringify(init)}`);
  }
  await writeFile(fileURLToPath(uris[0]!), 'P5\n1 1\n255\na');
  assert.equal((await ask(`${base}/sources/0/x`, { headers: { 'if-match': etag } })).status, 412);
});

test('a source in tiles is handed over only in the planned version', async (t) => {
  const stage = await setStage(t);
  const [uri] = await writeImages(stage.folder, 1);
  await submit(stage.jobs, specOf(stage.folder, [uri!], { tilePx: 4 }));
  const node = await ScriptedNode.attach(stage.coordinator.grpcPort, { remoteStorage: true, creditBytes: 1 });
  t.after(() => node.hangUp());
  const { handOver } = (await node.next('lease')) as Lease;
  const ask = () => fetch(`http://127.0.0.1:${stage.coordinator.httpPort}${handOver}/sources/0/x`);
  const path = fileURLToPath(uri!);
  const before = await ask();
  assert.equal(before.status, 200);
  const bytes = Buffer.from(await before.arrayBuffer());
  await writeFile(
    path,
    bytes.map((byte, i) => (i === bytes.length - 1 ? byte + 1 : byte)),
  );
  assert.equal((await ask()).status, 412);
});

test('chunks of its leases are kept when they arrive whole, and nothing else is', async (t) => {
  const { lease, ask, base } = await holdLease(t);
  const scratch = fileURLToPath(lease.scratch);
  const put = (path: string, body: string, headers: Record<string, string> = { 'content-digest': digestOf(body) }) =>
    ask(`${base}/chunks/${path}`, { method: 'PUT', body, headers });
  const name = 'map/0/0-0-2-1.u8';
  for (const [status, answer] of [
    [400, put(name, 'ab', { 'content-digest': digestOf('ac') })],
    [400, put(name, 'ab', {})],
    [413, put(name, 'x'.repeat(9))],
    [404, put('map/1/0-0-2-1.u8', 'ab')],
    [404, put('job/0/0-0-2-1.u8', 'ab')],
    [404, put('map/0/0-0-2-1.exe', 'ab')],
    [404, put('map/0/..%2f..%2fjob.json', 'ab')],
    [404, put('map/0/0-0-2-1.u8%2f..', 'ab')],
  ] as const) {
    assert.equal((await answer).status, status);
  }
  assert.deepEqual(await readdir(join(scratch, 'map', '0')).catch(() => []), []);
  assert.equal((await put(name, 'ab')).status, 204);
  assert.equal(await readFile(join(scratch, name), 'utf8'), 'ab');
  assert.equal((await put(name, 'ab')).status, 204, 'another attempt');
  assert.deepEqual(await readdir(join(scratch, 'map', '0')), ['0-0-2-1.u8']);
  // A Zarr shard has whole chunks and an index.
  const shard = 'x'.repeat(513 * 512 * 4 + 2 ** 13);
  assert.equal((await put('shard/0/0-0-2-1.u8', shard)).status, 204);
  assert.equal((await put('shard/0/0-0-2-1.u8', shard.repeat(2))).status, 413);
  assert.deepEqual(await readdir(join(scratch, 'shard', '0')), ['0-0-2-1.u8']);
});

test('chunks of named pipelines go to the folder of each, and to no other', async (t) => {
  const pipeline = { operations: [{ kernel: 'lbp', parameters: {}, border: '' }] };
  const named = ['a', 'b'].map((name) => ({ name, pipeline, op: [] }));
  const { lease, ask, base } = await holdLease(t, { pipeline: undefined, pipelines: { named } });
  const put = async (path: string) =>
    (await ask(`${base}/chunks/${path}`, { method: 'PUT', body: 'ab', headers: { 'content-digest': digestOf('ab') } }))
      .status;
  assert.equal(await put('pipelines/b/map/0/0-0-2-1.u8'), 204);
  assert.equal(await put('sums/0/0-0-2-1.u8'), 204);
  for (const path of ['pipelines/c', 'pipelines/..%2fb']) {
    assert.equal(await put(`${path}/map/0/0-0-2-1.u8`), 404, path);
  }
  const scratch = fileURLToPath(lease.scratch);
  assert.equal(await readFile(join(scratch, 'pipelines/b/map/0/0-0-2-1.u8'), 'utf8'), 'ab');
  assert.deepEqual((await readdir(join(scratch, 'pipelines'))).toSorted(), ['a', 'b']);
});

test('the token ends with the lease: answered, cancelled, or of a node that is gone', async (t) => {
  const { node, lease, ask, base, jobs, job } = await holdLease(t);
  const isOpen = async () => (await ask(`${base}/sources/0/x`)).status === 200;
  assert.ok(await isOpen());
  node.fail(lease);
  const next = await node.next('lease');
  const other = next.handOver;
  const { index } = leasedSources(next)[0]!;
  if (index !== 0) assert.ok(!(await isOpen()));
  assert.equal((await ask(`${other}/sources/${index}/x`)).status, 200);
  await new Promise((resolve) => jobs.cancel({ jobId: job.jobId }, resolve));
  assert.equal((await ask(`${other}/sources/${index}/x`)).status, 403);
  await assert.rejects(stat(fileURLToPath(lease.scratch)));
});

test('a node that shares our storage is given no token', async (t) => {
  const { coordinator, jobs, folder } = await setStage(t);
  const node = await ScriptedNode.attach(coordinator.grpcPort);
  t.after(() => node.hangUp());
  await submit(jobs, specOf(folder, await writeImages(folder, 1)));
  assert.equal((await node.next('lease')).handOver, '');
});
