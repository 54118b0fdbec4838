import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { JobDetail, JobStatus, MayAnswer, MergedSoFar, NodesAnswer, QuarantinedInputs } from '@halogrid/proto';
import {
  complete,
  setStage,
  specOf,
  submit,
  testConfig,
  watchToEnd,
  writeImages,
} from '../testing/coordinator-stage.ts';
import { ScriptedNode } from './testing/scripted-node.ts';

async function setPage(t: TestContext) {
  const stage = await setStage(t, testConfig());
  const node = await ScriptedNode.attach(stage.coordinator.grpcPort);
  t.after(() => node.hangUp());
  const get = async <T>(path: string, init?: RequestInit) => {
    const response = await fetch(`http://127.0.0.1:${stage.coordinator.httpPort}/api/v1/${path}`, init);
    return { status: response.status, body: (await response.json()) as T & { error?: string } };
  };
  const post = <T>(path: string, headers: Record<string, string> = { 'content-type': 'application/json' }) =>
    get<T>(path, { method: 'POST', headers, body: '{}' });
  return { ...stage, node, get, post };
}

test('what is merged so far of a job is told, and how it went, and of a complete one where it is', async (t) => {
  const { jobs, folder, node, get } = await setPage(t);
  const images = await writeImages(folder, 2);
  const empty = join(folder, '<b>empty.png');
  await writeFile(empty, '');
  const { jobId } = await submit(jobs, specOf(folder, [...images, pathToFileURL(empty).href], { mapFormat: 'none' }));
  await complete(node, await node.next('lease'));
  const lease = await node.next('lease');
  // The first result is merged before the second is asked for, or after: the page asks until it is there.
  const half = await (async () => {
    for (;;) {
      const { body } = await get<JobDetail>(`jobs/${jobId.slice(0, 12)}`);
      if (body.history!.lanes.length > 0) return body;
    }
  })();
  assert.deepEqual(half.asked, [{ name: '', operations: ['lbp'] }]);
  const { stages, lanes } = half.history!;
  assert.deepEqual([lanes.length, lanes[0]!.shards, stages.find(({ stage }) => stage === 'wait')?.count], [1, 1, 2]);
  const merged = await get<MergedSoFar>(`jobs/${jobId}/histogram`);
  const [channel] = merged.body.channels;
  const counted = channel!.bins.reduce<number>((sum, count) => sum + Number(count), 0);
  assert.equal(counted, merged.body.counted);
  assert.equal((await get(`jobs/${jobId}/histogram?pipeline=none`)).status, 400);

  await complete(node, lease);
  await watchToEnd(jobs, jobId);
  assert.equal((await get(`jobs/${jobId}/histogram`)).status, 409);
  const { groups } = (await get<QuarantinedInputs>(`jobs/${jobId}/quarantined`)).body;
  assert.deepEqual(
    groups.map(({ stage, inputs, files }) => [stage, inputs, files.map(({ uri }) => uri)]),
    [['decode', 1, [pathToFileURL(empty).href]]],
  );
});

test('ids that are none are refused in one sentence', async (t) => {
  const { get } = await setPage(t);
  for (const id of ['nothing', '%3Cscript%3E', '..%2F..%2Fetc', 'constructor', '__proto__', `${'x'.repeat(5000)}`]) {
    const { status, body } = await get(`jobs/${id}`);
    assert.ok(status === 404 || status === 400, `${status} for ${id}`);
    assert.match(body.error!, /^There is no job '/);
    assert.ok(body.error!.length < 300);
  }
  for (const id of ['%', '%ff']) {
    const response = await get(`jobs/${id}`).catch(() => undefined);
    assert.ok(!response || response.status === 404);
  }
});

test('a job is cancelled and run again by who may, and by nobody else', async (t) => {
  const { jobs, folder, get, post, node } = await setPage(t);
  const images = await writeImages(folder, 1);
  const { jobId } = await submit(jobs, specOf(folder, images, { mapFormat: 'none' }));
  await node.next('lease');
  assert.deepEqual((await get<MayAnswer>('may')).body, { submit: true, why: '' });
  assert.equal((await get(`jobs/${jobId}/cancel`)).status, 405);
  assert.equal((await post(`jobs/${jobId}/cancel`, { 'content-type': 'text/plain' })).status, 403);
  const elsewhere = { 'content-type': 'application/json', origin: 'http://evil.example' };
  assert.equal((await post(`jobs/${jobId}/cancel`, elsewhere)).status, 403);
  assert.equal((await get<JobDetail>(`jobs/${jobId}`)).body.job.state, 'JOB_STATE_RUNNING');

  const cancelled = await post<{ job: JobStatus }>(`jobs/${jobId}/cancel`);
  assert.equal(cancelled.body.job.state, 'JOB_STATE_CANCELLED');
  const again = await post<{ job: JobStatus }>(`jobs/${jobId}/again`);
  assert.notEqual(again.body.job.jobId, jobId);
  assert.deepEqual(again.body.job.spec!.sources, images);
  assert.equal((await post('jobs/nothing/again')).status, 404);
});

test('nodes are told of with what they see, and stay listed once they are gone', async (t) => {
  const { node, get, coordinator } = await setPage(t);
  const second = await ScriptedNode.attach(coordinator.grpcPort, { nodeId: 'second', name: 'second' });
  const { nodes, left } = (await get<NodesAnswer>('nodes')).body;
  assert.deepEqual([nodes.length, left.length], [2, 0]);
  assert.deepEqual([nodes[0]!.sees, nodes[0]!.lastFailure], [[], '']);
  await second.hangUp();
  const gone = await (async () => {
    for (;;) {
      const { body } = await get<NodesAnswer>('nodes');
      if (body.left.length > 0) return body;
    }
  })();
  assert.deepEqual([gone.nodes.length, gone.left[0]!.isLost], [1, true]);
  assert.match(gone.left[0]!.reason, /^Its connection broke/);
  await node.hangUp();
});
