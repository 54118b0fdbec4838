import { on } from 'node:events';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { CheckOptions } from '@halogrid/jobs/check-sources';
import { Refusal } from '@halogrid/jobs/refusal';
import type { PlannedStep } from '@halogrid/jobs/shard';
import { WantError } from '@halogrid/jobs/want-error';
import type { JobSpec, PlanAnswer as Surveyed } from '@halogrid/proto';
import { Sentence } from '@halogrid/proto/sentence';
import { redactUri } from '@halogrid/sources';
import { Places } from '@halogrid/threads';
import { ListingThread, type ThreadLimits, threadLimits } from './listing-thread.ts';

/**
 * An order to plan a job. The thread answers through the port. The caller posts a message when it has used an answer,
 * and closes the port when it wants no more.
 */
export interface PlanOrder {
  kind: 'plan';
  spec: JobSpec;
  /** How long the plan waits for a host that is away, in milliseconds. */
  sourceGraceMs: number;
  port: MessagePort;
}

/** An order to check sources. The port takes one answer. */
export interface CheckOrder {
  kind: 'check';
  uris: readonly string[];
  videoField?: string | undefined;
  filter?: JobSpec['filter'];
  column?: string | undefined;
  port: MessagePort;
}

/** An order to find out what a job would come to. The port takes one answer. */
export interface SurveyOrder {
  kind: 'survey';
  spec: JobSpec;
  port: MessagePort;
}

export type ListingOrder = PlanOrder | CheckOrder | SurveyOrder;

/** Empty if the sources may be planned. */
export interface CheckAnswer {
  surveyed?: Surveyed;
  refused?: Pick<Refusal, 'kind' | 'field'> & Pick<Sentence, 'parts'>;
  error?: Error;
}

/** The next steps of a plan. */
export interface PlanAnswer {
  steps: PlannedStep[];
  isLast?: true;
  /** Why the plan ends early. */
  error?: Error;
  /** The plan ends because a host stays away. */
  isWant?: boolean;
}

/** An order without its port. */
type Unsent = Omit<PlanOrder, 'port'> | Omit<CheckOrder, 'port'> | Omit<SurveyOrder, 'port'>;

export interface PlanLimits extends ThreadLimits {
  /** Plans and checks that run at once; more wait. A thread takes 37 MB (measured), plus the memory of its job. */
  plans: number;
  checks: number;
}

export const planLimits: PlanLimits = { ...threadLimits, plans: 32, checks: 8 };

/** Threads that are kept for the next order: a start takes 60 to 100 ms, and 250 ms of a core (measured). */
const mostIdle = 2;

/**
 * Makes plans and checks sources, each on its own thread. A thread is ended if it loops without end, takes too much
 * memory, or does not stop when its order was given up. So no job keeps another one waiting.
 *
 * Listing and probing a file takes 8 to 60 µs on the thread, and 0.1 µs on the caller's thread, which gets frames in
 * blocks (measured). On an H200, a coordinator that planned on its main thread gave its node 5,600 raw frames a second
 * while it planned, and 10,500 afterwards.
 */
export class PlanThreads {
  readonly #program: URL;
  readonly #limits: PlanLimits;
  readonly #plans: Places;
  readonly #checks: Places;
  readonly #threads = new Set<ListingThread>();
  #idle: ListingThread[] = [];
  #isClosed = false;

  constructor(program = new URL('./plan-worker.ts', import.meta.url), limits = planLimits) {
    this.#program = program;
    this.#limits = limits;
    this.#plans = new Places(limits.plans);
    this.#checks = new Places(limits.checks);
  }

  /** Starts a thread, unless one is idle: a start takes longer than the plan of a small job. */
  prepare(): void {
    if (this.#idle.length === 0) this.#idle.push(this.#start());
  }

  /** As planPatiently of planJob, except that errors other than WantError may keep only their message. */
  async *plan(spec: JobSpec, signal?: AbortSignal, sourceGraceMs = 0): AsyncGenerator<PlannedStep[]> {
    const order = { kind: 'plan', spec, sourceGraceMs } as const;
    for await (const answer of this.#order<PlanAnswer>(order, spec.sources, this.#plans, signal)) {
      const { steps, isLast, error, isWant } = answer;
      if (error !== undefined) throw isWant ? new WantError(error.message) : error;
      yield steps;
      if (isLast) return;
    }
  }

  /** As checkSources, except that failures of this process keep only their message. */
  async check(
    uris: readonly string[],
    videoField?: string,
    { signal, filter, column }: CheckOptions = {},
  ): Promise<void> {
    const each = [...new Set(uris)];
    await this.#askOnce({ kind: 'check', uris: each, videoField, filter, column }, each, signal);
  }

  /** As surveyForm, except that failures of this process keep only their message. */
  async survey(spec: JobSpec, signal?: AbortSignal): Promise<Surveyed> {
    const { surveyed } = await this.#askOnce({ kind: 'survey', spec }, spec.sources, signal);
    return surveyed!;
  }

  async #askOnce(order: Unsent, sources: readonly string[], signal: AbortSignal | undefined): Promise<CheckAnswer> {
    for await (const answer of this.#order<CheckAnswer>(order, sources, this.#checks, signal)) {
      const { refused, error } = answer;
      if (refused) throw new Refusal(refused.kind, new Sentence(refused.parts), refused.field);
      if (error !== undefined) throw error;
      return answer;
    }
    throw new Error('An order ended without an answer');
  }

  /** Ends all threads, including busy ones. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#threads].map((thread) => thread.end()));
  }

  /** The answers to an order. The next one comes when the caller has used the last. */
  async *#order<Answer>(
    order: Unsent,
    sources: readonly string[],
    places: Places,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<Answer> {
    const leave = await places.enter(signal);
    if (this.#isClosed) throw new Error('No more sources are listed: the coordinator ends');
    const thread = this.#idle.pop() ?? this.#start();
    const { port1: port, port2 } = new MessageChannel();
    void thread.ended.then(() => port.close());
    try {
      thread.obey({ ...order, port: port2 });
      for await (const [answer] of on(port, 'message', { signal, close: ['close'] })) {
        yield answer;
        port.postMessage('used');
      }
      const at = redactUri(sources[thread.source] ?? '');
      const why = await Promise.race([thread.ended, thread.stop().then(() => 'it gave no answer')]);
      throw new Refusal('unmet', `Listing the sources was given up at '${at}': ${why}`);
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    } finally {
      port.close();
      void thread.stop().then(() => {
        this.#keep(thread);
        leave();
      });
    }
  }

  #keep(thread: ListingThread): void {
    if (thread.hasEnded || this.#isClosed) return;
    if (this.#idle.length < mostIdle) this.#idle.push(thread);
    else void thread.end();
  }

  #start(): ListingThread {
    const thread = new ListingThread(this.#program, this.#limits);
    this.#threads.add(thread);
    void thread.ended.then(() => {
      this.#threads.delete(thread);
      this.#idle = this.#idle.filter((idle) => idle !== thread);
    });
    return thread;
  }
}
