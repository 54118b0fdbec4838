import { Worker } from 'node:worker_threads';
import { sayEnd, ThreadClient } from '@halogrid/threads';
import { InvalidResultError } from './check-answer.ts';
import type { FrameSummary, Frames } from './frame-summary.ts';

export type SummaryAnswer = { summary: FrameSummary } | { refused: string };

/** Summarises answers on a thread, which is started by the first of them. */
export class SummaryThread {
  #thread: ThreadClient<Frames, SummaryAnswer> | undefined;

  /**
   * The summary of frames; undefined where the thread has ended. Rejects with InvalidResultError where the frames cannot be right.
   */
  async summarise(frames: Frames): Promise<FrameSummary | undefined> {
    this.#thread ??= start();
    const answer = await this.#thread.order(frames).catch(() => undefined);
    if (answer && 'refused' in answer) throw new InvalidResultError(answer.refused);
    return answer?.summary;
  }

  async close(): Promise<void> {
    await this.#thread?.end();
  }
}

function start(): ThreadClient<Frames, SummaryAnswer> {
  const worker = new Worker(new URL('./summary-worker.ts', import.meta.url));
  return new ThreadClient(worker, {
    ended: (end) => new Error(`the thread that summarises answers has ended: ${sayEnd(end)}`),
  });
}
