import type { JobHistoryView } from '@halogrid/proto';
import { JobHistory } from './job-history.ts';
import type { ShardTimes, ShardTimesView } from './shard-times.ts';
import type { StoredHistory } from './stored-history.ts';

/** How many histories of ended jobs are kept: those that ended last. */
const mostEnded = 100;

/** When each shard of a job was on which node; seconds count from `sinceMs`, in milliseconds since 1970. */
export type JobTimeline = ShardTimesView & { sinceMs: number };

/** The histories of the jobs that run, and of the last ones that ended. */
export class JobHistories {
  readonly #running = new Map<string, JobHistory>();
  readonly #ended = new Map<string, { view: JobHistoryView; shardTimes: ShardTimes }>();

  /** A job begins, or goes on in this process from what `earlier` leaders saw. */
  begin(jobId: string, nowMs: number, wallMs: number, earlier?: StoredHistory): void {
    this.#running.set(jobId, earlier ? JobHistory.from(earlier, nowMs, wallMs) : new JobHistory(nowMs, wallMs));
  }

  get(jobId: string): JobHistory | undefined {
    return this.#running.get(jobId);
  }

  /** The histories of running jobs in which something has happened since the last call, for storage. */
  changed(nowMs: number): Map<string, StoredHistory> {
    const changed = [...this.#running].filter(([, history]) => history.hasChanged);
    return new Map(changed.map(([jobId, history]) => [jobId, history.store(nowMs)]));
  }

  /** A job has ended, or is left to another process. Returns its history for storage. */
  end(jobId: string, nowMs: number): StoredHistory | undefined {
    const history = this.#running.get(jobId);
    if (!history) return undefined;
    this.#running.delete(jobId);
    this.#ended.set(jobId, { view: history.view(nowMs), shardTimes: history.shardTimes });
    const [oldest] = this.#ended.keys();
    if (this.#ended.size > mostEnded) this.#ended.delete(oldest!);
    return history.store(nowMs);
  }

  /** Undefined for a job that this process did not see, or that ended too long ago. */
  view(jobId: string, nowMs: number): JobHistoryView | undefined {
    return this.#running.get(jobId)?.view(nowMs) ?? this.#ended.get(jobId)?.view;
  }

  /** Undefined as in `view`. */
  timeline(jobId: string, nowMs: number): JobTimeline | undefined {
    const view = this.view(jobId, nowMs);
    const times = this.#running.get(jobId)?.shardTimes ?? this.#ended.get(jobId)?.shardTimes;
    return view && times && { sinceMs: view.sinceMs, ...times.view() };
  }
}
