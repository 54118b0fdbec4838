import { once } from 'node:events';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { jobPipeline } from '@halogrid/jobs/accepted-job';
import { checkSources } from '@halogrid/jobs/check-sources';
import { isUnmeant, Refusal, whyFailed } from '@halogrid/jobs/refusal';
import type { PlannedStep } from '@halogrid/jobs/shard';
import { WantError } from '@halogrid/jobs/want-error';
import { listAllSources, restrictSources } from '@halogrid/sources';
import { endWhenAsked, ThreadLife } from '@halogrid/threads';
import type { ThreadSetup } from './listing-thread.ts';
import { planPatiently } from './plan-patiently.ts';
import type { CheckAnswer, ListingOrder, PlanAnswer, PlanOrder } from './plan-threads.ts';
import { planJob, realInputs } from './planner.ts';
import { runPlan } from './run-plan.ts';

/**
 * Runs on a thread of PlanThreads. It obeys one order after another: it plans the inputs that `listAll` lists, or
 * checks sources, and shows which source it is at. When asked to end, the thread ends between two tasks.
 */
export function serveListings(listAll = listAllSources): void {
  endWhenAsked(parentPort!);
  const { access, life: shown }: ThreadSetup = workerData;
  restrictSources(access);
  const life = new ThreadLife(shown);
  life.begin();
  const told = (uris: Iterable<string>): Generator<string> => tellEach(uris, life);
  const list: typeof listAll = (uris, options) => listAll(told(uris), options);
  const obey = async (order: ListingOrder, signal: AbortSignal): Promise<void> => {
    switch (order.kind) {
      case 'plan':
        return plan(order, list, signal);
      case 'check':
        return answerOnce(order.port, async () => {
          await checkSources(order.uris, order.videoField, {
            told,
            signal,
            filter: order.filter,
            column: order.column,
          });
          return {};
        });
      case 'survey':
        return answerOnce(order.port, async () => {
          // Plans and checks do not need this module.
          const { surveyForm } = await import('./survey-form.ts');
          return { surveyed: await surveyForm(order.spec, signal) };
        });
    }
  };
  parentPort!.on('message', (order: ListingOrder | string) => {
    if (typeof order === 'string') return;
    life.at(0);
    const stopped = new AbortController();
    order.port.on('close', () => stopped.abort());
    void obey(order, stopped.signal).finally(() => {
      order.port.close();
      parentPort!.postMessage('free');
    });
  });
}

async function plan(
  { spec, sourceGraceMs, port }: PlanOrder,
  list: typeof listAllSources,
  signal: AbortSignal,
): Promise<void> {
  const answer = (message: PlanAnswer): void => port.postMessage(message);
  const write = async (steps: PlannedStep[]): Promise<void> => {
    answer({ steps });
    await once(port, 'message', { signal });
  };
  try {
    const steps = planPatiently(
      planJob(spec, jobPipeline(spec), signal, { ...realInputs, list }),
      sourceGraceMs,
      signal,
    );
    await runPlan(steps, { write, room: async () => {} });
    answer({ steps: [], isLast: true });
  } catch (error) {
    answer({ steps: [], error: sendable(error), isWant: error instanceof WantError });
  }
}

async function answerOnce(port: MessagePort, find: () => Promise<CheckAnswer>): Promise<void> {
  const answer = (message: CheckAnswer): void => port.postMessage(message);
  try {
    answer(await find());
  } catch (error) {
    if (error instanceof Refusal)
      answer({ refused: { kind: error.kind, parts: error.sentence.parts, field: error.field } });
    else answer({ error: sendable(error) });
  }
}

function* tellEach(uris: Iterable<string>, life: ThreadLife): Generator<string> {
  let source = 0;
  for (const uri of uris) {
    life.at(source++);
    yield uri;
  }
}

/**
 * The error as it can be sent to another thread: only its kind, its message and its stack are sure to arrive.
 */
const sendable = (error: unknown): Error => (isUnmeant(error) ? (error as Error) : new Error(whyFailed(error)));
