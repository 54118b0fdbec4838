import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { PlannedStep } from '@halogrid/jobs/shard';
import { WantError } from '@halogrid/jobs/want-error';
import { readRemoteHead } from '@halogrid/sources';
import { startServer } from '@halogrid/sources/testing-servers';
import { planPatiently } from './plan-patiently.ts';

/** A host that refuses its first requests in a way that is not retried at once. */
async function startHost(t: TestContext, failures: number): Promise<string> {
  let requests = 0;
  const { origin, close } = await startServer((_, response) => {
    if (requests++ < failures) response.writeHead(501).end();
    else response.end('bytes');
  });
  t.after(close);
  return origin;
}

/** A plan with a note for each of several files, which it reads at the same time. */
async function* readingPlan(origin: string, files: number): AsyncGenerator<PlannedStep[], void, undefined> {
  yield [{ kind: 'note', text: 'It begins' }];
  const heads = await Promise.all(Array.from({ length: files }, (_, i) => readRemoteHead(`${origin}/${i}`, 5)));
  for (const head of heads) yield [{ kind: 'note', text: head.toString() }];
}

const words = (step: PlannedStep): string => {
  if (step.kind === 'note') return step.text;
  return step.kind === 'waits' ? `waits for ${step.away?.place ?? 'none'}` : step.kind;
};

test('a plan waits for a host that is away, says so while it does, and is the same', async (t) => {
  const origin = await startHost(t, 3);
  const told: string[] = [];
  for await (const steps of planPatiently(readingPlan(origin, 2), 60_000)) told.push(...steps.map(words));
  assert.deepEqual(told, ['It begins', `waits for ${origin}`, 'waits for none', 'bytes', 'bytes']);
});

test('a plan whose hosts all answer says nothing about waiting', async (t) => {
  const origin = await startHost(t, 0);
  const steps = (await Array.fromAsync(planPatiently(readingPlan(origin, 2), 0))).flat();
  assert.deepEqual(steps.map(words), ['It begins', 'bytes', 'bytes']);
});

test('a host that stays away ends the plan with WantError', async (t) => {
  const origin = await startHost(t, Number.POSITIVE_INFINITY);
  await assert.rejects(Array.fromAsync(planPatiently(readingPlan(origin, 3), 0)), (error: Error) => {
    assert.ok(error instanceof WantError);
    const host = new URL(origin).host;
    assert.match(
      error.message,
      new RegExp(`^The host '${host}' was away, as long as the job waits for it: the coordinator cannot read`),
    );
    return true;
  });
});

test('a waiting plan ends as soon as it is aborted', async (t) => {
  const origin = await startHost(t, Number.POSITIVE_INFINITY);
  const stopped = new AbortController();
  const steps = planPatiently(readingPlan(origin, 3), Number.POSITIVE_INFINITY, stopped.signal);
  await steps.next();
  assert.deepEqual((await steps.next()).value!.map(words), [`waits for ${origin}`]);
  const next = steps.next();
  stopped.abort(new Error('Nobody wants it'));
  await assert.rejects(next, /^Error: Nobody wants it$/);
});
