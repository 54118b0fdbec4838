import assert from 'node:assert/strict';
import { readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { get as httpGet } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { JobState } from '@halogrid/proto';
import { errorAnswer } from '@halogrid/proto/error-answer';
import { complete, setStage, specOf, submit, watchToEnd, writeImages } from '../../testing/coordinator-stage.ts';
import { fetch } from '../testing/described-answers.ts';
import { ScriptedNode } from '../testing/scripted-node.ts';

/** A coordinator with a complete job of two images; `at` fetches below its results. */
async function setResults(t: TestContext) {
  const stage = await setStage(t);
  const { coordinator, jobs, folder } = stage;
  const node = await ScriptedNode.attach(coordinator.grpcPort);
  t.after(() => node.hangUp());
  const { jobId } = await submit(jobs, specOf(folder, await writeImages(folder, 2), { mapFormat: 'none' }));
  for (let shards = 0; shards < 2; shards++) await complete(node, await node.next('lease'));
  const { state, error } = (await watchToEnd(jobs, jobId)).at(-1)!;
  assert.equal(state, JobState.COMPLETE, error);
  const path = `/api/v1/jobs/${jobId}/results`;
  const at = (name: string, init?: RequestInit) =>
    fetch(`http://127.0.0.1:${coordinator.httpPort}${path}${name && `/${name}`}`, init);
  /** Requests the path as written: other clients normalise it. */
  const raw = (name: string) =>
    new Promise<{ statusCode: number; body: string }>((resolve, reject) => {
      httpGet({ port: coordinator.httpPort, host: '127.0.0.1', path: `${path}/${name}` }, (response) => {
        text(response).then((body) => resolve({ statusCode: response.statusCode!, body }), reject);
      }).on('error', reject);
    });
  return { ...stage, jobId, out: join(folder, 'out'), at, raw, node };
}

test('every result of a complete job is listed and served as it is on disk', async (t) => {
  const { at, out, coordinator } = await setResults(t);
  const { files, grpcPort } = (await (await at('')).json()) as {
    files: { name: string; bytes: number }[];
    grpcPort: number;
  };
  assert.equal(grpcPort, coordinator.grpcPort);
  assert.deepEqual(files.map(({ name }) => name).toSorted(), [
    'features.parquet',
    'histogram.json',
    'histogram.svg',
    'job.json',
    'preview/image-0.png',
    'preview/image-0.source.jpg',
    'preview/image-1.png',
    'preview/image-1.source.jpg',
    'sources.jsonl',
  ]);
  for (const { name, bytes } of files) {
    const response = await at(name, { headers: { 'accept-encoding': 'identity' } });
    const body = Buffer.from(await response.arrayBuffer());
    assert.equal(response.status, 200);
    assert.ok(body.equals(await readFile(join(out, name))), name);
    assert.deepEqual([body.length, Number(response.headers.get('content-length'))], [bytes, bytes]);
  }
  const chart = await at('histogram.svg');
  assert.equal(chart.headers.get('content-type'), 'image/svg+xml');
  assert.match(chart.headers.get('content-security-policy')!, /^sandbox;/);
  await chart.body!.cancel();
});

test('ranges, heads of files, and requests that are neither', async (t) => {
  const { at, out } = await setResults(t);
  const file = await readFile(join(out, 'histogram.json'));
  const part = await at('histogram.json', { headers: { range: 'bytes=5-14' } });
  assert.deepEqual([part.status, part.headers.get('content-range')], [206, `bytes 5-14/${file.length}`]);
  assert.deepEqual(Buffer.from(await part.arrayBuffer()), file.subarray(5, 15));
  const etag = part.headers.get('etag')!;

  const same = await at('histogram.json', { headers: { range: 'bytes=-3', 'if-range': etag } });
  assert.deepEqual([same.status, await same.text()], [206, file.subarray(-3).toString()]);
  const other = await at('histogram.json', { headers: { range: 'bytes=-3', 'if-range': '"another"' } });
  assert.deepEqual([other.status, await other.text()], [200, file.toString()]);

  const beyond = await at('histogram.json', { headers: { range: `bytes=${file.length}-` } });
  assert.deepEqual([beyond.status, beyond.headers.get('content-range')], [416, `bytes */${file.length}`]);
  await beyond.body!.cancel();

  const head = await at('histogram.json', { method: 'HEAD', headers: { 'accept-encoding': 'identity' } });
  assert.deepEqual([head.status, head.headers.get('content-length')], [200, String(file.length)]);
  assert.equal(await head.text(), '');

  const post = await at('histogram.json', { method: 'POST' });
  assert.deepEqual([post.status, post.headers.get('allow')], [405, 'GET, HEAD']);
  assert.deepEqual(await post.json(), errorAnswer('UNIMPLEMENTED', 'Expected GET or HEAD but received POST'));
});

test('text is compressed for callers that accept that, but ranges never; callers that have the file get 304', async (t) => {
  const { at, out, coordinator, jobId } = await setResults(t);
  const file = await readFile(join(out, 'histogram.json'));
  const coded = async (name: string, headers: Record<string, string>) => {
    const response = await at(name, { headers });
    const body = Buffer.from(await response.arrayBuffer());
    return { response, body, encoding: response.headers.get('content-encoding'), etag: response.headers.get('etag')! };
  };
  const plain = await coded('histogram.json', { 'accept-encoding': 'identity' });
  const tags = new Set([plain.etag]);
  for (const encoding of ['br', 'gzip']) {
    const sent = await coded('histogram.json', { 'accept-encoding': encoding });
    assert.deepEqual([sent.response.status, sent.encoding, sent.body], [200, encoding, file]);
    assert.match(sent.response.headers.get('vary')!, /accept-encoding/);
    tags.add(sent.etag);
    const range = { 'accept-encoding': encoding, range: 'bytes=0-9' };
    const part = await coded('histogram.json', range);
    assert.deepEqual([part.response.status, part.encoding, part.body], [206, null, file.subarray(0, 10)]);
    // A range of compressed bytes would be other bytes.
    const whole = await coded('histogram.json', { ...range, 'if-range': sent.etag });
    assert.deepEqual([whole.response.status, whole.encoding, whole.body], [200, null, file]);
    const had = await coded('histogram.json', { 'accept-encoding': encoding, 'if-none-match': `"x", ${sent.etag}` });
    assert.deepEqual([had.response.status, had.body.length], [304, 0]);
  }
  assert.equal(tags.size, 3);
  assert.equal((await coded('histogram.json', { 'if-none-match': '"x"' })).response.status, 200);
  assert.equal((await coded('features.parquet', { 'accept-encoding': 'br' })).encoding, null);

  const api = `http://127.0.0.1:${coordinator.httpPort}/api/v1`;
  const list = await fetch(`${api}/jobs/${jobId}/results`);
  const etag = list.headers.get('etag')!;
  assert.match(etag, /^W\/"/);
  assert.equal((await fetch(`${api}/jobs/${jobId}/results`, { headers: { 'if-none-match': etag } })).status, 304);
  const kernels = await fetch(`${api}/kernels`, { headers: { 'accept-encoding': 'gzip' } });
  assert.deepEqual(
    [kernels.headers.get('content-encoding'), kernels.headers.get('cache-control')],
    ['gzip', 'no-store'],
  );
  await kernels.body!.cancel();
});

test('nothing but results is served', async (t) => {
  const { at, raw, out, folder } = await setResults(t);
  await writeFile(join(folder, 'secret'), 'secret');
  await writeFile(join(out, 'notes.txt'), 'secret');
  await symlink(join(folder, 'secret'), join(out, 'preview', 'link.png'));
  await symlink(folder, join(out, 'maps'));
  const names = ['../secret', 'preview/../../secret', 'preview/%2e%2e/%2e%2e/secret', 'preview/..%2f..%2fsecret'];
  for (const name of [
    ...names,
    'preview/link.png',
    'maps/secret',
    'notes.txt',
    'preview',
    'missing',
    'preview/none.png',
  ]) {
    const { statusCode, body } = await raw(name);
    assert.equal(statusCode, 404, name);
    assert.ok(!body.includes('secret'), name);
  }
  const list = await (await at('')).text();
  assert.ok(list.includes('preview/image-0.png') && !/secret|link|notes/.test(list), list);
});

test('a job that is not complete, is not known, or whose folder is another’s has no results', async (t) => {
  const { coordinator, jobs, folder, jobId, out, at } = await setResults(t);
  const base = `http://127.0.0.1:${coordinator.httpPort}/api/v1/jobs`;
  const refusal = async (response: Response) => [response.status, ((await response.json()) as { error: string }).error];
  const unknown = [404, `There is no job 'nobody'; there is ${jobId}`];
  assert.deepEqual(await refusal(await fetch(`${base}/nobody/results`)), unknown);
  assert.equal((await fetch(`${base}/${jobId.slice(0, -3)}/results`)).status, 200);

  const other = join(folder, 'other');
  const running = await submit(jobs, specOf(other, await writeImages(folder, 1)));
  const [status, error] = await refusal(await fetch(`${base}/${running.jobId}/results/job.json`));
  assert.equal(status, 409);
  assert.match(String(error), /is (pending|running): only complete jobs have results$/);

  await rename(out, `${out}-before`);
  assert.equal((await at('job.json')).status, 410);
  await rename(join(other, 'out'), out);
  const [gone, why] = await refusal(await at('job.json'));
  assert.equal(gone, 410);
  assert.match(String(why), new RegExp(`^The results of job ${jobId} are no longer where it wrote them`));
  await rename(out, join(other, 'out'));
});
