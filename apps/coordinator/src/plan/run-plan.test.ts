import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstOf } from '@halogrid/jobs/planned-sources';
import type { PlanStep } from '@halogrid/jobs/shard';
import { plannedSources } from '@halogrid/jobs/testing-planned';
import { turns } from '@halogrid/testing';
import { runPlan } from './run-plan.ts';

const step = (index: number): PlanStep => ({
  kind: 'sources',
  sources: plannedSources([{ index, uri: `file:///${index}` }]),
});

async function* plan(count: number): AsyncGenerator<PlanStep[]> {
  for (let index = 0; index < count; index++) yield [step(index)];
}

const room = async (): Promise<void> => {};

test('every step is written once and in order, in batches of the steps that came meanwhile', async () => {
  const batches: number[][] = [];
  await runPlan(plan(100), {
    room,
    async write(steps) {
      await turns();
      batches.push(steps.map((s) => (s.kind === 'sources' ? firstOf(s.sources) : -1)));
    },
  });
  assert.deepEqual(
    batches.flat(),
    Array.from({ length: 100 }, (_, i) => i),
  );
  assert.ok(batches.length < 100 && batches.length > 1, `${batches.length} batches`);
});

test('the first step is written while the plan still waits for the second', async () => {
  const gate = Promise.withResolvers<void>();
  async function* slow(): AsyncGenerator<PlanStep[]> {
    yield [step(0)];
    await gate.promise;
    yield [step(1)];
  }
  const written = Promise.withResolvers<number>();
  const done = runPlan(slow(), { room, write: async (steps) => written.resolve(steps.length) });
  assert.equal(await written.promise, 1);
  gate.resolve();
  await done;
});

test('the plan is not pulled while there is no room', async () => {
  let pulled = 0;
  async function* counted(): AsyncGenerator<PlanStep[]> {
    for await (const next of plan(10)) {
      pulled++;
      yield next;
    }
  }
  const gate = Promise.withResolvers<void>();
  const done = runPlan(counted(), { write: async () => {}, room: () => (pulled === 3 ? gate.promise : room()) });
  await turns();
  assert.equal(pulled, 3);
  gate.resolve();
  await done;
  assert.equal(pulled, 10);
});

test('a failure of the plan or of a write rejects, and the plan is closed', async () => {
  async function* broken(): AsyncGenerator<PlanStep[]> {
    yield [step(0)];
    throw new Error('The source vanished');
  }
  await assert.rejects(runPlan(broken(), { room, write: async () => {} }), /The source vanished/);

  let isClosed = false;
  async function* endless(): AsyncGenerator<PlanStep[]> {
    try {
      for (let index = 0; ; index++) yield [step(index)];
    } finally {
      isClosed = true;
    }
  }
  const write = async (): Promise<void> => {
    throw new Error('The disk is full');
  };
  await assert.rejects(runPlan(endless(), { room, write }), /The disk is full/);
  assert.ok(isClosed);
});
