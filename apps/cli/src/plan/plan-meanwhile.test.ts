import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PlanTotals } from '@halogrid/coordinator/plan';
import { JobSpec } from '@halogrid/proto';
import { UsageError } from '@halogrid/service';
import type { RunCosts } from './estimate/remember-run.ts';
import type { MadePlan } from './make-plan.ts';
import { planMeanwhile } from './plan-meanwhile.ts';

const spec = JobSpec.fromPartial({ tilePx: 0 });
const run = { nodes: 1, device: 'cpu', ownThreads: 3 } as const;
const plan = { plan: { advice: null }, notes: [] as string[] } as unknown as MadePlan;
const noAdvice = () => undefined;
const never = () => new Promise<never>(() => {});
const output = { mapsBytes: 0, featuresBytes: 1, histogramBytes: 1 };
const totals = (some: Partial<PlanTotals>) =>
  ({ videoFrames: 0, sources: 0, scratchBytes: 0, output, ...some }) as PlanTotals;
const begun: RunCosts = {
  totals: totals({}),
  setup: { pipelines: [], mapFormat: 'none', nodes: 1, cores: 2 },
  slowdown: Promise.resolve(1),
};

test('a plan that is complete in time is returned once the nodes are ready', async () => {
  const { promise: ready, resolve } = Promise.withResolvers<void>();
  let isReady = false;
  const given = planMeanwhile(spec, run, ready, async () => plan).then(({ made }) => [made, isReady]);
  setImmediate(() => {
    isReady = true;
    resolve();
  });
  assert.deepEqual(await given, [plan, true]);
});

test('a plan that takes longer is stopped', async () => {
  let signal: AbortSignal | undefined;
  const make: Parameters<typeof planMeanwhile>[3] = (_spec, _run, given, onCosts) => {
    signal = given;
    onCosts!(begun, totals({}), noAdvice);
    return never();
  };
  const made = await planMeanwhile(spec, run, Promise.resolve(), make, 1);
  // The totals so far are remembered with the run.
  assert.deepEqual(made, { made: undefined, costs: begun, advice: undefined });
  assert.equal(signal?.aborted, true);
});

test('a run does not wait for the plan of recordings, which lists few segments', async () => {
  const make: Parameters<typeof planMeanwhile>[3] = (_spec, _run, _signal, onCosts, mostSegments) => {
    assert.equal(mostSegments, 16);
    onCosts!(begun, totals({ videoFrames: 128 }), noAdvice);
    return never();
  };
  assert.deepEqual(await planMeanwhile(spec, run, Promise.resolve(), make, 1e6), {
    made: undefined,
    costs: begun,
    advice: undefined,
  });
});

test('a run stops waiting for the plan once it turns out to be of an archive', async () => {
  const growing = totals({ sources: 1 });
  const make: Parameters<typeof planMeanwhile>[3] = (_spec, _run, _signal, onCosts) => {
    onCosts!(begun, growing, noAdvice);
    return never();
  };
  const given = planMeanwhile(spec, run, Promise.resolve(), make, 1e6);
  setImmediate(() => {
    growing.sources = 1001;
  });
  assert.deepEqual(await given, { made: undefined, costs: begun, advice: undefined });
});

test('a run waits for the plan of an archive with maps, because they may not fit', async () => {
  const { promise, resolve } = Promise.withResolvers<MadePlan>();
  const make: Parameters<typeof planMeanwhile>[3] = (_spec, _run, _signal, onCosts) => {
    let looks = 0;
    const soFar = {
      ...totals({ sources: 1001, output: { ...output, mapsBytes: 1 } }),
      get videoFrames() {
        if (++looks === 3) resolve(plan);
        return 0;
      },
    };
    onCosts!(begun, soFar, noAdvice);
    return promise;
  };
  assert.deepEqual(await planMeanwhile(spec, run, Promise.resolve(), make, 1e6), {
    made: plan,
    costs: begun,
    advice: undefined,
  });
});

test('a refused plan refuses the run at once, and other failures are left to the job', async () => {
  const refusal = new UsageError('It cannot fit');
  const refuse = () => planMeanwhile(spec, run, never(), async () => Promise.reject(refusal));
  await assert.rejects(refuse(), refusal);
  const fail = planMeanwhile(spec, run, Promise.resolve(), async () => Promise.reject(new Error('no permission')));
  assert.deepEqual(await fail, { made: undefined, costs: undefined, advice: undefined });
});

test('the error that keeps nodes from being ready is thrown', async () => {
  await assert.rejects(
    planMeanwhile(spec, run, Promise.reject(new Error('the nodes ended')), never),
    /the nodes ended/,
  );
});

test('a run with a side of tiles waits until the plan tells whether they are too small', async () => {
  const looked: number[] = [];
  const soFar = {
    ...totals({}),
    get tiles() {
      looked.push(looked.length < 3 ? 100 : 1000);
      return looked.at(-1)!;
    },
  };
  const make: Parameters<typeof planMeanwhile>[3] = (_spec, _run, _signal, onCosts) => {
    onCosts!(begun, soFar, () => 'Tiles are many');
    return never();
  };
  const { advice } = await planMeanwhile({ ...spec, tilePx: 5 }, run, Promise.resolve(), make, 1);
  assert.deepEqual([advice, looked], ['Tiles are many', [100, 100, 100, 1000]]);
});
