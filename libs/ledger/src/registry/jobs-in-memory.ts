import { unpackMarks } from './job-row.ts';
import type { SharedJob } from './job-shares.ts';
import { type NetRow, netJobs } from './net-jobs.ts';
import type { JobChange, RegisteredJob } from './registry.ts';

type KnownJob = RegisteredJob & SharedJob;

/** The jobs of registries in memory. Makes all changes of a transaction, or none. */
export class JobsInMemory {
  readonly #jobs = new Map<string, KnownJob>();
  readonly #histories = new Map<string, string>();

  get(jobId: string): KnownJob | undefined {
    return this.#jobs.get(jobId);
  }

  /** In order of id. */
  all(): KnownJob[] {
    return [...this.#jobs.values()].sort((a, b) => (a.jobId < b.jobId ? -1 : 1));
  }

  /** False, and nothing changed, if that epoch does not lead all of the jobs. */
  write(epoch: number, changes: readonly JobChange[]): boolean {
    const { removed, written } = netJobs(changes);
    const leaderOf = (jobId: string) => this.#jobs.get(jobId)?.leader;
    const mayWrite = ({ jobId, spec, hasEnded }: NetRow): boolean =>
      leaderOf(jobId) === epoch ||
      (this.#jobs.has(jobId) ? hasEnded && leaderOf(jobId) === undefined : spec !== undefined);
    if (!removed.every((jobId) => [undefined, epoch].includes(leaderOf(jobId)))) return false;
    if (!written.every(mayWrite)) return false;
    for (const jobId of removed) {
      this.#jobs.delete(jobId);
      this.#histories.delete(jobId);
    }
    for (const row of written) this.#put(epoch, row);
    return true;
  }

  writeHistories(epoch: number, histories: ReadonlyMap<string, string>): void {
    for (const [jobId, history] of histories) {
      const job = this.#jobs.get(jobId);
      if (job && (job.leader === undefined || job.leader === epoch)) this.#histories.set(jobId, history);
    }
  }

  history(jobId: string): string | undefined {
    return this.#histories.get(jobId);
  }

  #put(epoch: number, { jobId, spec = '', status, marks, hasEnded }: NetRow): void {
    const before = this.#jobs.get(jobId) ?? { jobId, spec, epoch, writes: 0, isCancelled: false, now: '' };
    this.set({
      ...before,
      status,
      marks: unpackMarks(marks),
      leader: hasEnded ? undefined : epoch,
      writes: before.writes + 1,
      now: hasEnded ? '' : before.now,
    });
  }

  /** Makes that epoch the leader of every job that has not ended. */
  takeAll(epoch: number): void {
    for (const job of this.#jobs.values()) if (job.leader !== undefined) this.set({ ...job, leader: epoch, epoch });
  }

  set(job: KnownJob): void {
    this.#jobs.set(job.jobId, job);
  }
}
