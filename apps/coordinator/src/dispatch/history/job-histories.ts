import type { JobHistoryView } from '@halogrid/proto';
import { JobHistory } from './job-history.ts';

/** Histories of jobs that have ended, at most: those that ended last. */
const mostEnded = 100;

/** The histories of the jobs that run, and of the last ones that ended. */
export class JobHistories {
  readonly #running = new Map<string, JobHistory>();
  readonly #ended = new Map<string, JobHistoryView>();

  /** A job begins, or goes on in this process. */
  begin(jobId: string, nowMs: number, wallMs: number): void {
    this.#running.set(jobId, new JobHistory(nowMs, wallMs));
  }

  get(jobId: string): JobHistory | undefined {
    return this.#running.get(jobId);
  }

  end(jobId: string, nowMs: number): void {
    const history = this.#running.get(jobId);
    if (!history) return;
    this.#running.delete(jobId);
    this.#ended.set(jobId, history.view(nowMs));
    const [oldest] = this.#ended.keys();
    if (this.#ended.size > mostEnded) this.#ended.delete(oldest!);
  }

  /** Undefined for a job that this process did not see, or that ended too long ago. */
  view(jobId: string, nowMs: number): JobHistoryView | undefined {
    return this.#running.get(jobId)?.view(nowMs) ?? this.#ended.get(jobId);
  }
}
