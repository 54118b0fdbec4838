import assert from 'node:assert/strict';
import { test } from 'node:test';
import { status } from '@grpc/grpc-js';
import { createLog } from '@halogrid/service/log';
import { eventually } from '@halogrid/testing';
import { drain } from './dispatch/drain.ts';
import { ScriptedNode } from './services/testing/scripted-node.ts';
import { complete, refusalOf, setStage, specOf, submit, watchToEnd, writeImages } from './testing/coordinator-stage.ts';

test('a coordinator that drains finishes its jobs, takes no others, and is not ready', async (t) => {
  const { coordinator, jobs, folder } = await setStage(t);
  const node = await ScriptedNode.attach(coordinator.grpcPort, { nodeId: 'n' });
  t.after(() => node.hangUp());
  const spec = specOf(folder, await writeImages(folder, 1), { mapFormat: 'none' });
  const { jobId } = await submit(jobs, spec);
  const lease = await node.next('lease');
  const readiness = async () => {
    const response = await fetch(`http://127.0.0.1:${coordinator.httpPort}/readyz`);
    return [response.status, await response.text()];
  };
  assert.equal((await readiness())[0], 200);

  let isDrained = false;
  const drained = coordinator.drain().then(() => {
    isDrained = true;
  });
  const [code, why] = await readiness();
  assert.equal(code, 503);
  assert.match(String(why), /^It drains: it takes no new jobs and is about to end/);
  const refusal = await refusalOf(submit(jobs, { ...spec, out: `${spec.out}-2` }));
  assert.equal(refusal.code, status.UNAVAILABLE);
  assert.match(refusal.details, /^This coordinator takes no new jobs, because it is about to end: submit the job to/);
  assert.equal(isDrained, false);

  const ended = watchToEnd(jobs, jobId);
  await complete(node, lease);
  assert.equal((await ended).at(-1)!.state, 'JOB_STATE_COMPLETE');
  await drained;
  await eventually('the drained coordinator still answers', async () => (await readiness())[0] === 503);
});

test('without jobs, and where others take them over, a drain ends at once', async () => {
  const lines: string[] = [];
  const log = createLog('test', 'info', { lines: { write: (line) => lines.push(JSON.parse(line).msg) } });
  const never = () => new Promise<void>(() => {});
  await drain({ jobs: { openJobs: 0, idle: never }, isAlone: () => true, log });
  await drain({ jobs: { openJobs: 2, idle: never }, isAlone: () => false, log });
  assert.deepEqual(lines, ['The coordinator takes no new jobs: others take over those that it leads']);
});
