import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JobSpec } from '@halogrid/proto';
import { UsageError } from '@halogrid/service';
import type { JobPlan } from './job-plan.ts';
import { planMeanwhile } from './plan-meanwhile.ts';

const spec = JobSpec.fromPartial({});
const run = { nodes: 1, device: 'cpu' } as const;
const plan = { sources: 1 } as JobPlan;
const never = () => new Promise<never>(() => {});

test('a plan that is made in time is given once all is ready', async () => {
  const { promise: ready, resolve } = Promise.withResolvers<void>();
  let isReady = false;
  const given = planMeanwhile(spec, run, ready, async () => plan).then((made) => [made, isReady]);
  setImmediate(() => {
    isReady = true;
    resolve();
  });
  assert.deepEqual(await given, [plan, true]);
});

test('a plan that takes longer is stopped, and is not waited for', async () => {
  let signal: AbortSignal | undefined;
  const make = (_spec: unknown, _run: unknown, given?: AbortSignal) => {
    signal = given;
    return never();
  };
  const made = await planMeanwhile(spec, run, Promise.resolve(), make, 1);
  assert.equal(made, undefined);
  assert.equal(signal?.aborted, true);
});

test('a plan that is refused is refused at once, and other failures are left to the job', async () => {
  const refusal = new UsageError('It cannot fit');
  const refuse = () => planMeanwhile(spec, run, never(), async () => Promise.reject(refusal));
  await assert.rejects(refuse(), refusal);
  const fail = planMeanwhile(spec, run, Promise.resolve(), async () => Promise.reject(new Error('no permission')));
  assert.equal(await fail, undefined);
});

test('what keeps the nodes from being ready is thrown', async () => {
  await assert.rejects(
    planMeanwhile(spec, run, Promise.reject(new Error('the nodes ended')), never),
    /the nodes ended/,
  );
});
