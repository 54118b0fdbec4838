import { Worker } from 'node:worker_threads';
import { sayEnd, ThreadClient } from '@halogrid/threads';
import { InvalidResultError } from './check-answer.ts';
import { type FrameOrder, type FrameSummary, summarise } from './frame-summary.ts';

export type SummaryAnswer = { summary: FrameSummary } | { refused: string };

/**
 * Bytes of counts, of an answer or of all so far, from which on a thread is worth it: it takes 60 to 100 ms of processor time to start,
 * as some 10,000 frames of 256 bins do to be summarised, and most jobs are over by then.
 */
const worthBytes = 2 ** 18;
const worthBytesInAll = 2 ** 21;

/** Summarises answers: the first few at once, and then on a thread. */
export class Summaries {
  #thread: ThreadClient<FrameOrder, SummaryAnswer> | undefined;
  #bytes = 0;

  /** Rejects with InvalidResultError where the frames cannot be right. */
  async summarise(order: FrameOrder): Promise<FrameSummary> {
    const bytes = order.counts.reduce((sum, { length }) => sum + length, 0);
    this.#bytes += bytes;
    if (bytes >= worthBytes || this.#bytes >= worthBytesInAll) this.#thread ??= start();
    const answer = await this.#thread?.order(order).catch(() => undefined);
    if (answer && 'refused' in answer) throw new InvalidResultError(answer.refused);
    // A thread that has ended is no reason to refuse an answer.
    return answer?.summary ?? summarise(order);
  }

  async close(): Promise<void> {
    await this.#thread?.end();
  }
}

function start(): ThreadClient<FrameOrder, SummaryAnswer> {
  const worker = new Worker(new URL('./summary-worker.ts', import.meta.url));
  return new ThreadClient(worker, {
    ended: (end) => new Error(`the thread that summarises answers has ended: ${sayEnd(end)}`),
  });
}
