import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { Lease, PipelineSet } from '@halogrid/proto';
import { createLog } from '@halogrid/service/log';
import { packSources } from '@halogrid/sources/pack-sources';
import { HandOver } from './hand-over.ts';
import { createHandOverRoute } from './hand-over-http.ts';

/** A lease of a node with remote storage, and a function that puts its files. */
async function holdLease(t: TestContext, pipelines: readonly string[] = []) {
  const scratch = await mkdtemp(join(tmpdir(), 'halogrid-parts-'));
  t.after(() => rm(scratch, { recursive: true, force: true }));
  const handOver = new HandOver();
  const named = pipelines.map((name) => ({ name, op: [] }));
  const session = handOver.openSession();
  const lease = session.grant(
    Lease.fromPartial({
      jobId: 'job',
      shard: 1,
      attempt: 1,
      epoch: 1,
      scratch: pathToFileURL(scratch).href,
      sources: packSources([{ index: 4, uri: 'file:///a.pgm', name: 'a', sizeBytes: 1 }]),
      ...(pipelines.length > 0 && { pipelines: PipelineSet.fromPartial({ named }) }),
    }),
  );
  const route = createHandOverRoute(handOver, createLog('test', 'silent'));
  const server = createServer((request, response) => void route(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const put = async (path: string, body: string, digest = body): Promise<number> => {
    const sha256 = createHash('sha256').update(digest).digest('base64');
    const headers = { 'content-digest': `sha-256=:${sha256}:` };
    const url = `http://127.0.0.1:${port}${lease.handOver}/parts/${path}`;
    const response = await fetch(url, { method: 'PUT', body, headers });
    await response.text();
    return response.status;
  };
  const kept = async () => (await readdir(join(scratch, 'parts')).catch(() => [])).toSorted();
  const read = (path: string) => readFile(join(scratch, 'parts', path), 'utf8');
  return { scratch, put, kept, read, session, lease };
}

test('a part has its name once the list of its sources is there, which comes last', async (t) => {
  const { put, kept, read } = await holdLease(t);
  const part = randomUUID();
  assert.equal(await put(`${part}/features.parquet`, 'counts'), 204);
  assert.deepEqual(await kept(), [`${part}.tmp`]);
  assert.equal(await put(`${part}/sources.parquet`, 'rows'), 204);
  assert.deepEqual(await kept(), [part]);
  assert.deepEqual([await read(`${part}/features.parquet`), await read(`${part}/sources.parquet`)], ['counts', 'rows']);
});

test('files of several pipelines go to the folder of each, the first pipeline last', async (t) => {
  const { put, kept, read } = await holdLease(t, ['a', 'b']);
  const part = randomUUID();
  for (const file of ['b/sources.parquet', 'b/features.parquet', 'a/features.parquet']) {
    assert.equal(await put(`${part}/pipelines/${file}`, file), 204, file);
    assert.deepEqual(await kept(), [`${part}.tmp`]);
  }
  assert.equal(await put(`${part}/pipelines/a/sources.parquet`, 'rows'), 204);
  assert.deepEqual(await kept(), [part]);
  assert.equal(await read(`${part}/pipelines/b/sources.parquet`), 'b/sources.parquet');
});

test('a file that comes again is accepted if it is the same, before the part is complete and after', async (t) => {
  const { put, kept, read } = await holdLease(t);
  const part = randomUUID();
  for (const body of ['other counts', 'counts']) assert.equal(await put(`${part}/features.parquet`, body), 204);
  for (const _ of [1, 2]) assert.equal(await put(`${part}/sources.parquet`, 'rows'), 204);
  assert.equal(await put(`${part}/features.parquet`, 'counts'), 204);
  assert.equal(await put(`${part}/features.parquet`, 'other counts'), 409);
  assert.deepEqual([await kept(), await read(`${part}/features.parquet`)], [[part], 'counts']);
});

test('no other name is taken, nor bytes of another digest, nor a file once the lease is over or its folder gone', async (t) => {
  const { put, kept, scratch, session, lease } = await holdLease(t, ['a', 'b']);
  const part = randomUUID();
  for (const path of [
    `${part}/pipelines/c/sources.parquet`,
    `${part}/pipelines/a/other.parquet`,
    `${part}/sources.parquet`,
    `${part}/pipelines/a/x/sources.parquet`,
    `${part}.tmp/pipelines/a/sources.parquet`,
    'other/pipelines/a/sources.parquet',
    `..%2f${part}/pipelines/a/sources.parquet`,
    part,
  ]) {
    assert.equal(await put(path, 'rows'), 404, path);
  }
  assert.deepEqual(await kept(), []);
  assert.equal(await put(`${part}/pipelines/b/sources.parquet`, 'rows', 'other rows'), 400);
  assert.deepEqual(await readdir(join(scratch, 'parts', `${part}.tmp`, 'pipelines', 'b')), []);
  assert.equal(await put(`${part}/pipelines/a/sources.parquet`, 'rows'), 409, 'the other list is missing');
  await rm(scratch, { recursive: true });
  assert.equal(await put(`${part}/pipelines/a/sources.parquet`, 'rows'), 500);
  await mkdir(scratch);
  session.release(lease);
  assert.equal(await put(`${part}/pipelines/a/sources.parquet`, 'rows'), 403);
  assert.deepEqual(await readdir(scratch), []);
});
