import { on } from 'node:events';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { JobSpec, PlanAnswer as Surveyed } from '@halogrid/proto';
import { redactUri } from '@halogrid/sources';
import type { CheckOptions } from '../job/check-sources.ts';
import { Refusal, type RefusalKind } from '../job/refusal.ts';
import type { PlannedStep } from '../job/shard.ts';
import { WantError } from '../job/want-error.ts';
import { ListingThread, type ThreadLimits, threadLimits } from './listing-thread.ts';
import { Places } from './places.ts';

/**
 * A plan that is wanted. Its answers come through the port, which takes a message when the last one has been used,
 * and is closed when no more are wanted.
 */
export interface PlanOrder {
  kind: 'plan';
  spec: JobSpec;
  /** How long it waits for a host that is away, in milliseconds. */
  sourceGraceMs: number;
  port: MessagePort;
}

/** Sources that are to be checked. The port takes one answer. */
export interface CheckOrder {
  kind: 'check';
  uris: readonly string[];
  videoOption?: string | undefined;
  port: MessagePort;
}

/** A job of which somebody wants to know what it comes to. The port takes one answer. */
export interface SurveyOrder {
  kind: 'survey';
  spec: JobSpec;
  port: MessagePort;
}

export type ListingOrder = PlanOrder | CheckOrder | SurveyOrder;

/** Empty for sources that may be planned. */
export interface CheckAnswer {
  surveyed?: Surveyed;
  refused?: { kind: RefusalKind; message: string };
  error?: Error;
}

/** The next steps of a plan. */
export interface PlanAnswer {
  steps: PlannedStep[];
  isLast?: true;
  /** Why there are no more. */
  error?: Error;
  /** The plan ends for want of a host. */
  isWant?: boolean;
}

/** An order without its port. */
type Unsent = Omit<PlanOrder, 'port'> | Omit<CheckOrder, 'port'> | Omit<SurveyOrder, 'port'>;

/** Plans and checks that are under way at once; more wait. A thread takes 37 MB (measured) and what its job needs. */
const mostPlans = 32;
const mostChecks = 8;
/** Threads that are kept for the next order: a start takes 60 to 100 ms, and 250 ms of a core (measured). */
const mostIdle = 2;

/**
 * Makes plans and checks sources, each on a thread of its own, which is ended where it is in an endless loop, takes
 * too much memory, or does not stop when nobody wants its order any more: no job keeps another one waiting.
 *
 * Listing a file and looking at it takes 8 to 60 µs, and 0.1 of the thread that asks, which gets frames in blocks
 * (measured): on an H200, a coordinator that planned by itself gave 5,600 raw frames a second to its node until its
 * plan was made, and 10,500 from then on.
 */
export class PlanThreads {
  readonly #program: URL;
  readonly #limits: ThreadLimits;
  readonly #plans = new Places(mostPlans);
  readonly #checks = new Places(mostChecks);
  readonly #threads = new Set<ListingThread>();
  #idle: ListingThread[] = [];
  #isClosed = false;

  constructor(program = new URL('./plan-worker.ts', import.meta.url), limits: ThreadLimits = threadLimits) {
    this.#program = program;
    this.#limits = limits;
  }

  /** Starts a thread, unless one waits: a start takes longer than the plan of a small job. */
  prepare(): void {
    if (this.#idle.length === 0) this.#idle.push(this.#start());
  }

  /** As planPatiently does of planJob, but that other errors are told by no more than their message. */
  async *plan(spec: JobSpec, signal?: AbortSignal, sourceGraceMs = 0): AsyncGenerator<PlannedStep[]> {
    const order = { kind: 'plan', spec, sourceGraceMs } as const;
    for await (const answer of this.#order<PlanAnswer>(order, spec.sources, this.#plans, signal)) {
      const { steps, isLast, error, isWant } = answer;
      if (error !== undefined) throw isWant ? new WantError(error.message) : error;
      yield steps;
      if (isLast) return;
    }
  }

  /** As checkSources, but that failures of this process are told by no more than their message. */
  async check(uris: readonly string[], videoOption?: string, { signal }: CheckOptions = {}): Promise<void> {
    const each = [...new Set(uris)];
    await this.#askOnce({ kind: 'check', uris: each, videoOption }, each, signal);
  }

  /** As surveyForm, but that failures of this process are told by no more than their message. */
  async survey(spec: JobSpec, signal?: AbortSignal): Promise<Surveyed> {
    const { surveyed } = await this.#askOnce({ kind: 'survey', spec }, spec.sources, signal);
    return surveyed!;
  }

  async #askOnce(order: Unsent, sources: readonly string[], signal: AbortSignal | undefined): Promise<CheckAnswer> {
    for await (const answer of this.#order<CheckAnswer>(order, sources, this.#checks, signal)) {
      const { refused, error } = answer;
      if (refused) throw new Refusal(refused.kind, refused.message);
      if (error !== undefined) throw error;
      return answer;
    }
    throw new Error('An order ended without an answer');
  }

  /** Ends all threads, also those that are at something. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#threads].map((thread) => thread.end()));
  }

  /** The answers to an order, each of which is followed by the next when it has been used. */
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
