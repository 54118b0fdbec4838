import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { JobState, type JobStatus } from '@halogrid/proto';
import { temporaryFolder } from '@halogrid/sources/testing-files';
import { eventually, within } from '@halogrid/testing';
import {
  cancel,
  complete,
  metricsOf,
  setStage,
  specOf,
  submit,
  testConfig,
  writeImages,
} from '../../testing/coordinator-stage.ts';
import { ScriptedNode } from '../testing/scripted-node.ts';

/** Reads events one by one, as a program does that sends a token. */
async function* eventsOf(response: Response): AsyncGenerator<{ id: string; job: JobStatus }> {
  let text = '';
  for await (const part of response.body!.pipeThrough(new TextDecoderStream())) {
    text += part;
    const events = text.split('\n\n');
    text = events.pop()!;
    for (const event of events) {
      if (event.startsWith(':')) continue;
      const [id, data] = event.split('\n');
      yield { id: id!.replace('id: ', ''), job: JSON.parse(data!.replace('data: ', '')).job };
    }
  }
}

async function setWatched(t: TestContext, config = testConfig()) {
  const stage = await setStage(t, config);
  const watch = (jobId: string, init: RequestInit = {}) =>
    fetch(`http://127.0.0.1:${stage.coordinator.httpPort}/api/v1/jobs/${jobId}/watch`, init);
  return { ...stage, watch };
}

test('events follow a job until it has ended, and a caller that comes back after that learns that there are no more', async (t) => {
  const { coordinator, jobs, folder, watch } = await setWatched(t);
  const { jobId } = await submit(jobs, specOf(folder, await writeImages(folder, 1)));
  const response = await watch(jobId);
  assert.deepEqual(
    ['content-type', 'cache-control', 'content-encoding', 'etag'].map((name) => response.headers.get(name)),
    ['text/event-stream; charset=utf-8', 'no-store', null, null],
  );
  const events = eventsOf(response);
  const first = await within('the first event', events.next());
  assert.deepEqual([first.value!.id, first.value!.job.jobId], ['1', jobId]);
  const node = await ScriptedNode.attach(coordinator.grpcPort);
  t.after(() => node.hangUp());
  await complete(node, await node.next('lease'));
  let last = first.value!;
  await within(
    'the last event',
    (async () => {
      for await (const event of events) last = event;
    })(),
  );
  assert.deepEqual([last.id, last.job.state, last.job.counts!.frames], ['end', JobState.COMPLETE, 1]);
  assert.equal((await watch(jobId, { headers: { 'last-event-id': 'end' } })).status, 204);
  const again = await Array.fromAsync(eventsOf(await watch(jobId.slice(-6))));
  assert.deepEqual(
    again.map(({ id, job }) => [id, job.state, job.digest]),
    [['end', JobState.COMPLETE, last.job.digest]],
  );
  const unknown = await watch('nothing');
  assert.deepEqual([unknown.status, ((await unknown.json()) as { code: string }).code], [404, 'NOT_FOUND']);
});

test('a caller that stops reading holds nothing up, and one that leaves is forgotten', async (t) => {
  const stage = await setWatched(t);
  const { jobs, folder, watch } = stage;
  const { jobId } = await submit(jobs, specOf(folder, await writeImages(folder, 1)));
  const left = new AbortController();
  const leaving = await watch(jobId, { signal: left.signal });
  await within('the first event', eventsOf(leaving).next());
  left.abort();
  const silent = await watch(jobId);
  assert.equal((await cancel(jobs, jobId)).state, JobState.CANCELLED);
  assert.match(await metricsOf(stage), /halogrid_jobs_ended_total\{state="cancelled"\} 1/);
  assert.equal((await Array.fromAsync(eventsOf(silent))).at(-1)!.id, 'end');
});

test('a token is required, and taking it away ends the events', async (t) => {
  const tokens = join(await temporaryFolder(t), 'tokens');
  const [reader, other] = ['read reader a-token-that-may-read\n', 'submit writer a-token-that-may-write\n'];
  await writeFile(tokens, reader + other, { mode: 0o600 });
  const { coordinator, folder, watch } = await setWatched(t, testConfig({ security: { tokens } }));
  const post = await fetch(`http://127.0.0.1:${coordinator.httpPort}/api/v1/jobs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer a-token-that-may-write' },
    body: JSON.stringify({ sources: await writeImages(folder, 1), out: join(folder, 'out') }),
  });
  const { jobId } = ((await post.json()) as { job: JobStatus }).job;
  const unasked = await watch(jobId);
  assert.deepEqual([unasked.status, ((await unasked.json()) as { code: string }).code], [401, 'UNAUTHENTICATED']);
  const response = await watch(jobId, { headers: { authorization: 'Bearer a-token-that-may-read' } });
  const events = eventsOf(response);
  await within('the first event', events.next());
  await writeFile(tokens, other, { mode: 0o600 });
  // The file of tokens is read only once in a while.
  await eventually('the token to be gone', async () => {
    const headers = { authorization: 'Bearer a-token-that-may-read' };
    return (await fetch(`http://127.0.0.1:${coordinator.httpPort}/api/v1/jobs`, { headers })).status === 401;
  });
  await fetch(`http://127.0.0.1:${coordinator.httpPort}/api/v1/jobs/${jobId}/cancel`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer a-token-that-may-write' },
    body: '{}',
  });
  await assert.rejects(within('the end of the events', Array.fromAsync(events)), /terminated/);
});
