import { on } from 'node:events';
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import type { JobSpec } from '@halogrid/proto';
import { sourceAccess } from '@halogrid/sources';
import { endThread } from '@halogrid/threads';
import { Refusal, type RefusalKind } from '../job/refusal.ts';
import type { PlannedStep } from '../job/shard.ts';
import { WantError } from '../job/want-error.ts';

/**
 * A plan that is wanted. Its answers come through the port, which takes a message when the last one has been used, and is closed
 * when no more are wanted.
 */
export interface PlanOrder {
  spec: JobSpec;
  /** How long it waits for a host that is away. */
  sourceGraceMs: number;
  port: MessagePort;
}

/** Sources that are to be checked. The port takes one answer. */
export interface CheckOrder {
  uris: readonly string[];
  videoOption?: string | undefined;
  port: MessagePort;
}

/** Empty for sources that may be planned. */
export interface CheckAnswer {
  refused?: { kind: RefusalKind; message: string };
  error?: string;
}

/** The next steps of a plan. */
export interface PlanAnswer {
  steps: PlannedStep[];
  isLast?: true;
  /** Why there are no more. */
  error?: string;
  /** That is for want of a host. */
  isWant?: boolean;
}

interface Running {
  worker: Worker;
  /** Resolves with how it ended, as a clause. */
  ended: Promise<string>;
}

/**
 * Makes plans on a thread that all jobs of a process share. Listing a file and looking at it takes 8 to 60 µs, and 0.1 of the
 * thread that asks, which gets frames in blocks (measured): on an H200, a coordinator that planned by itself gave 5,600 raw frames a second to its node until
 * its plan was made, and 10,500 from then on.
 */
export class PlanThread {
  readonly #program: URL;
  #running: Running | undefined;

  constructor(program = new URL('./plan-worker.ts', import.meta.url)) {
    this.#program = program;
  }

  /** Starts the thread, unless it is there: a start takes longer than the plan of a small job. */
  prepare(): void {
    this.#started();
  }

  /** As planPatiently does of planJob, but that other errors are told by no more than their message. */
  async *plan(spec: JobSpec, signal?: AbortSignal, sourceGraceMs = 0): AsyncGenerator<PlannedStep[]> {
    signal?.throwIfAborted();
    const { port1: port, port2 } = new MessageChannel();
    try {
      const { worker, ended } = this.#started();
      worker.postMessage({ spec, sourceGraceMs, port: port2 } satisfies PlanOrder, [port2]);
      for await (const [answer] of on(port, 'message', { signal, close: ['close'] })) {
        const { steps, isLast, error, isWant }: PlanAnswer = answer;
        if (error !== undefined) throw new (isWant ? WantError : Error)(error);
        yield steps;
        if (isLast) return;
        port.postMessage('used');
      }
      throw new Error(`The thread that makes plans has ended: ${await ended}`);
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    } finally {
      port.close();
    }
  }

  /** As checkSources, but that failures of this process are told by no more than their message. */
  async check(uris: readonly string[], videoOption?: string): Promise<void> {
    const { port1: port, port2 } = new MessageChannel();
    try {
      const { worker, ended } = this.#started();
      worker.postMessage({ uris, videoOption, port: port2 } satisfies CheckOrder, [port2]);
      for await (const [answer] of on(port, 'message', { close: ['close'] })) {
        const { refused, error }: CheckAnswer = answer;
        if (refused) throw new Refusal(refused.kind, refused.message);
        if (error !== undefined) throw new Error(error);
        return;
      }
      throw new Error(`The thread that checks sources has ended: ${await ended}`);
    } finally {
      port.close();
    }
  }

  async close(): Promise<void> {
    if (this.#running) await endThread(this.#running.worker);
  }

  /** One that has ended is replaced; its plans learn of it by their ports. */
  #started(): Running {
    if (this.#running) return this.#running;
    const worker = new Worker(this.#program, { workerData: sourceAccess() });
    let failure: string | undefined;
    worker.on('error', ({ message }: Error) => {
      failure = message;
    });
    const ended = new Promise<string>((resolve) => {
      worker.on('exit', (code) => {
        if (this.#running?.worker === worker) this.#running = undefined;
        resolve(failure ?? `it exited with ${code}`);
      });
    });
    // The ports of its plans keep the process from ending, the thread does not.
    worker.unref();
    this.#running = { worker, ended };
    return this.#running;
  }
}
