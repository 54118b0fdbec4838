import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { writeTiff } from '@halogrid/imaging/testing-tiffs';
import type {
  ErrorAnswer,
  FrameHistograms,
  FramesAnswer,
  JobDetail,
  JobStatus,
  MayAnswer,
  MergedSoFar,
  NodesListResponse,
  QuarantinedInputs,
} from '@halogrid/proto';
import { eventually } from '@halogrid/testing';
import sharp from 'sharp';
import {
  complete,
  setStage,
  specOf,
  submit,
  testConfig,
  watchToEnd,
  writeImages,
} from '../../testing/coordinator-stage.ts';
import { fetch } from '../testing/described-answers.ts';
import { ScriptedNode } from '../testing/scripted-node.ts';

async function setPage(t: TestContext) {
  const stage = await setStage(t, testConfig());
  const node = await ScriptedNode.attach(stage.coordinator.grpcPort);
  t.after(() => node.hangUp());
  const api = `http://127.0.0.1:${stage.coordinator.httpPort}/api/v1`;
  const get = async <T>(path: string, init?: RequestInit) => {
    const response = await fetch(`${api}/${path}`, init);
    return { status: response.status, body: (await response.json()) as T & Partial<ErrorAnswer> };
  };
  const post = <T>(path: string, headers: Record<string, string> = { 'content-type': 'application/json' }) =>
    get<T>(path, { method: 'POST', headers, body: '{}' });
  return { ...stage, node, get, post, api };
}

test('a running job shows its merged results and history, and a complete one says where its results are', async (t) => {
  const { jobs, folder, node, get, api } = await setPage(t);
  const images = await writeImages(folder, 2);
  const empty = join(folder, '<b>empty.png');
  await writeFile(empty, '');
  const { jobId } = await submit(jobs, specOf(folder, [...images, pathToFileURL(empty).href], { mapFormat: 'none' }));
  await complete(node, await node.next('lease'));
  const lease = await node.next('lease');
  // Asks until the first result is merged.
  const half = await eventually('the first result to be merged', async () => {
    const { body } = await get<JobDetail>(`jobs/${jobId.slice(0, 12)}`);
    return body.history!.lanes.length > 0 && body;
  });
  assert.deepEqual(half.job!.asked, [{ name: '', operations: ['lbp'] }]);
  const { stages, lanes } = half.history!;
  assert.deepEqual([lanes.length, lanes[0]!.shards, stages.find(({ stage }) => stage === 'wait')?.count], [1, 1, 2]);
  const merged = await get<MergedSoFar>(`jobs/${jobId}/histogram`);
  const [channel] = merged.body.channels;
  const counted = channel!.bins.reduce<number>((sum, count) => sum + Number(count), 0);
  assert.equal(counted, Number(merged.body.counted));
  const inOne = async (pipeline: string) => (await get<JobDetail>(`jobs/${jobId}?merged=${pipeline}`)).body.merged;
  assert.deepEqual([half.merged, await inOne('')], [undefined, merged.body]);
  for (const path of ['/histogram?pipeline=none', '?merged=none']) {
    assert.equal((await get(`jobs/${jobId}${path}`)).status, 400, path);
  }

  await complete(node, lease);
  await watchToEnd(jobs, jobId);
  assert.equal((await get(`jobs/${jobId}/histogram`)).status, 409);
  // A caller that follows a job with its merged results learns of its end, and is not refused.
  assert.deepEqual([(await get<JobDetail>(`jobs/${jobId}?merged=`)).status, await inOne('')], [200, undefined]);
  type Trace = { otherData: { job: string }; traceEvents: { name: string }[] };
  const trace = (await get<Trace>(`jobs/${jobId.slice(0, 12)}/trace`)).body;
  assert.equal(trace.otherData.job, jobId);
  // One entry for each of two shards, in the row of the coordinator.
  assert.equal(trace.traceEvents.filter(({ name }) => name === 'merge').length, 2);
  const { groups } = (await get<QuarantinedInputs>(`jobs/${jobId}/quarantined`)).body;
  assert.deepEqual(
    groups.map(({ stage, inputs, files }) => [stage, inputs, files.map(({ uri }) => uri)]),
    [['decode', 1, [pathToFileURL(empty).href]]],
  );

  const { total, frames } = (await get<FramesAnswer>(`jobs/${jobId}/frames?from=1`)).body;
  assert.deepEqual(
    [total, ...frames.map(({ index, uri, width, height }) => [index, uri, width, height])],
    [3, [1, images[1], 7, 5], [2, pathToFileURL(empty).href, 0, 0]],
  );
  const of = async (index: number) => (await get<FrameHistograms>(`jobs/${jobId}/frame?index=${index}`)).body;
  const [one, two] = [await of(0), await of(1)];
  assert.deepEqual([one.rows, one.columns, one.channels.length, one.cells.length], [1, 1, 1, 1]);
  const results = await get<MergedSoFar>(`jobs/${jobId}/results/histogram.json`);
  assert.deepEqual(
    one.cells[0]!.bins.map((count, bin) => count + two.cells[0]!.bins[bin]!),
    results.body.channels[0]!.bins,
  );
  const picture = await fetch(`${api}/jobs/${jobId}/picture?index=0&side=64&x=2&y=1&width=512&height=512`);
  assert.deepEqual([picture.status, picture.headers.get('halogrid-size')], [200, '5x4']);
  const { width, height } = await sharp(await picture.arrayBuffer()).metadata();
  assert.deepEqual([width, height], [5, 4]);
  assert.deepEqual((await get(`jobs/${jobId}/image?index=0`)).body, { readsParts: true });
  for (const wrong of [
    'frame?index=3',
    'frame?index=-1',
    'picture?index=0',
    'picture?index=0&side=9999',
    'frames?count=1e9',
  ]) {
    assert.equal((await get(`jobs/${jobId}/${wrong}`)).status, 400, wrong);
  }
  assert.equal((await get(`jobs/${jobId}/frame?index=2`)).status, 409);
});

test('pictures show the level and the band of a source that the job read', async (t) => {
  const { jobs, folder, node, get, api } = await setPage(t);
  // A tile of 16 x 16 pixels with two samples: the second is 16 times the row plus the column, or 100 more.
  const page = (width: number, height: number, plus: number) => ({
    ...{ width, height, blocks: [Uint8Array.from({ length: 512 }, (_, i) => (i % 2) * ((i >> 1) + plus))] },
    tags: { TileWidth: [16], TileLength: [16], SamplesPerPixel: [2], BitsPerSample: [8, 8] },
  });
  const scene = join(folder, 'scene.tif');
  await writeFile(scene, writeTiff({ ...page(12, 8, 0), pages: [page(6, 4, 100)] }));
  const uri = pathToFileURL(scene).href;
  const { jobId } = await submit(jobs, specOf(folder, [uri], { band: { numbers: [2], all: false }, level: '1' }));
  await complete(node, await node.next('lease'));
  await watchToEnd(jobs, jobId);
  const [frame] = (await get<FramesAnswer>(`jobs/${jobId}/frames?`)).body.frames;
  assert.deepEqual([frame!.width, frame!.height], [6, 4]);
  assert.deepEqual((await get(`jobs/${jobId}/image?index=0`)).body, { readsParts: true });
  const picture = await fetch(`${api}/jobs/${jobId}/picture?index=0&side=64&x=4&y=2&width=512&height=512`);
  assert.equal(picture.headers.get('halogrid-size'), '2x2');
  const { data } = await sharp(await picture.arrayBuffer())
    .toColourspace('b-w')
    .raw()
    .toBuffer({ resolveWithObject: true });
  assert.deepEqual([...data], [136, 137, 152, 153]);
});

test('pages run only scripts of this coordinator, whatever their address says', async (t) => {
  const { coordinator } = await setPage(t);
  const at = (path: string) => fetch(`http://127.0.0.1:${coordinator.httpPort}${path}`);
  const script = encodeURIComponent('<script>alert(1)</script>');
  for (const path of ['/', `/jobs/${script}`, '/console/nodes.html', '/console/viewer.html', '/console/submit.html']) {
    const page = await at(path);
    const policy = page.headers.get('content-security-policy')!;
    assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self';/, path);
    assert.doesNotMatch(policy, /unsafe/);
    // Every caller gets the same bytes: nothing of the address is in them.
    assert.doesNotMatch(await page.text(), /alert\(|<script>/, path);
  }
  for (const path of ['/jobs/', '/jobs/a/b', '/jobs/..%2f..%2fetc/passwd', '/console/../package.json']) {
    assert.equal((await at(path)).status, 404, path);
  }
});

test('a token in an address is not accepted', async (t) => {
  const tokens = join(await mkdtemp(join(tmpdir(), 'halogrid-tokens-')), 'tokens');
  await writeFile(tokens, 'submit writer a-token-that-may-write\nread reader a-token-that-may-read\n', { mode: 0o600 });
  t.after(() => rm(dirname(tokens), { recursive: true, force: true }));
  const { coordinator } = await setStage(t, testConfig({ security: { tokens } }));
  const api = `http://127.0.0.1:${coordinator.httpPort}/api/v1`;
  const may = async (path: string, token?: string) => {
    const response = await fetch(`${api}/${path}`, token ? { headers: { authorization: `Bearer ${token}` } } : {});
    return response.status === 200 ? ((await response.json()) as MayAnswer).submit : response.status;
  };
  assert.deepEqual(
    [
      await may('may?token=a-token-that-may-write'),
      await may('may?access_token=a-token-that-may-write'),
      await may('may', 'a-token-that-may-read'),
      await may('may', 'a-token-that-may-write'),
    ],
    [401, 401, false, true],
  );
  const post = (token: string) =>
    fetch(`${api}/jobs/any/cancel`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    });
  assert.deepEqual(
    [(await post('a-token-that-may-read')).status, (await post('a-token-that-may-write')).status],
    [403, 404],
  );
  const listing = await fetch(`${api}/folder`, { headers: { authorization: 'Bearer a-token-that-may-read' } });
  assert.equal(listing.status, 403);
});

test('ids that are not valid are refused in one sentence', async (t) => {
  const { get } = await setPage(t);
  for (const id of ['nothing', '%3Cscript%3E', '..%2F..%2Fetc', 'constructor', '__proto__', `${'x'.repeat(5000)}`]) {
    const { status, body } = await get(`jobs/${id}`);
    assert.ok(status === 404 || status === 400, `${status} for ${id}`);
    assert.match(body.error!, /^There is no job '/);
    assert.equal(body.field, 'id');
    assert.ok(body.error!.length < 300);
  }
  for (const id of ['%', '%ff']) {
    const response = await get(`jobs/${id}`).catch(() => undefined);
    assert.ok(!response || response.status === 404);
  }
});

test('only callers with the right can cancel a job and run it again', async (t) => {
  const { jobs, folder, get, post, node } = await setPage(t);
  const images = await writeImages(folder, 1);
  const { jobId } = await submit(jobs, specOf(folder, images, { mapFormat: 'none' }));
  await node.next('lease');
  assert.deepEqual((await get<MayAnswer>('may')).body, { submit: true, why: '', admin: true, name: '' });
  assert.equal((await get(`jobs/${jobId}/cancel`)).status, 405);
  assert.equal((await post(`jobs/${jobId}/cancel`, { 'content-type': 'text/plain' })).status, 415);
  const elsewhere = { 'content-type': 'application/json', origin: 'http://evil.example' };
  assert.equal((await post(`jobs/${jobId}/cancel`, elsewhere)).status, 403);
  assert.equal((await get<JobDetail>(`jobs/${jobId}`)).body.job!.state, 'JOB_STATE_RUNNING');

  const cancelled = await post<{ job: JobStatus }>(`jobs/${jobId}/cancel`);
  assert.equal(cancelled.body.job!.state, 'JOB_STATE_CANCELLED');
  const again = await post<{ job: JobStatus }>(`jobs/${jobId}/again`);
  assert.notEqual(again.body.job.jobId, jobId);
  assert.deepEqual(again.body.job.spec!.sources, images);
  assert.equal((await post('jobs/nothing/again')).status, 404);
});

test('nodes are listed with the needs that they meet, and stay listed once they are gone', async (t) => {
  const { node, get, coordinator } = await setPage(t);
  const second = await ScriptedNode.attach(coordinator.grpcPort, { nodeId: 'second', name: 'second' });
  const { nodes, left } = (await get<NodesListResponse>('nodes')).body;
  assert.deepEqual([nodes.length, left.length], [2, 0]);
  assert.deepEqual([nodes[0]!.sees, nodes[0]!.lastFailure], [[], '']);
  // No node shows more busy workers than it has.
  const decode = { workers: 4, busy: 1e9, queued: 7 };
  const device = { workers: 1, busy: Number.NaN, queued: 0 };
  second.say({ $case: 'load', value: { decode, device, video: { workers: 0, busy: 0, queued: 0 } } });
  await second.next('acknowledge');
  assert.deepEqual((await get<NodesListResponse>('nodes')).body.nodes[1]!.load, [
    { kind: 'decode', workers: 4, busy: 4, queued: 7 },
    { kind: 'device', workers: 1, busy: 0, queued: 0 },
  ]);
  await second.hangUp();
  const gone = await eventually('the node to leave', async () => {
    const { body } = await get<NodesListResponse>('nodes');
    return body.left.length > 0 && body;
  });
  assert.deepEqual([gone.nodes.length, gone.left[0]!.isLost], [1, true]);
  assert.match(gone.left[0]!.reason, /^Its connection broke/);
  await node.hangUp();
});
