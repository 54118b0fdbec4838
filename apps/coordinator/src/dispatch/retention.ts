import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { outputPath } from '@halogrid/jobs/output-paths';
import type { JobRecord, Ledger } from '@halogrid/ledger';
import type { RemoveResponse } from '@halogrid/proto';
import type { Log } from '@halogrid/service';
import type { Clock } from '@halogrid/service/clock';
import { isBucketUri } from '@halogrid/sources/prefix-uri';

/** How often it looks: an hour matters little to results that are kept for days. */
const lookEveryMs = 3_600_000;

export interface RetentionOptions {
  ledger: Pick<Ledger, 'listJobs'>;
  /** Results are removed this long after the end of their job. */
  retentionMs: number;
  clock: Clock;
  log: Log;
  /** As removeJob. */
  remove: (jobId: string) => Promise<RemoveResponse>;
  /** Calls `task` every `ms` until the returned function is called; system timers by default. */
  every?: (ms: number, task: () => void) => () => void;
}

/** Removes results of jobs that ended long ago: at once, and every hour from then on. */
export class Retention {
  readonly #options: RetentionOptions;
  readonly #stop: () => void;
  #sweep: Promise<void>;
  #isClosed = false;
  /** Jobs whose results could not be removed: the log names each once. */
  readonly #told = new Set<string>();

  constructor(options: RetentionOptions) {
    this.#options = options;
    this.#sweep = this.#look();
    this.#stop = (options.every ?? systemTimer)(lookEveryMs, () => {
      this.#sweep = this.#sweep.then(() => this.#look());
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stop();
    await this.#sweep;
  }

  async #look(): Promise<void> {
    const { ledger, retentionMs, clock, log } = this.#options;
    try {
      const old = (await ledger.listJobs()).filter((job) => isOver(job, clock.wallMs() - retentionMs));
      for (const job of old.reverse()) if (!this.#isClosed) await this.#remove(job);
    } catch (error) {
      log.warn(`Old results were not looked for: ${(error as Error).message}`);
    }
  }

  async #remove({ jobId, spec: { out } }: JobRecord): Promise<void> {
    const { log, remove } = this.#options;
    try {
      if (!(await isThere(out))) throw new Error('neither its folder nor the one above is there');
      const { files, bytes, stays, indexes } = await remove(jobId);
      log.info({ jobId, out, files, bytes, stays, indexes }, 'The results of a job were removed: their time was over');
    } catch (error) {
      if (this.#told.has(jobId)) return;
      this.#told.add(jobId);
      log.warn({ jobId, out }, `The results of a job were kept beyond their time: ${(error as Error).message}`);
    }
  }
}

/** Whether the job ended for good before that time. */
const isOver = ({ finishedMs, canGoOn }: JobRecord, beforeMs: number): boolean =>
  finishedMs > 0 && !canGoOn && finishedMs <= beforeMs;

/** A folder may be away with its whole file system; one that somebody removed leaves the folder above. */
async function isThere(out: string): Promise<boolean> {
  // `remove` says if the bucket cannot be reached.
  if (isBucketUri(out)) return true;
  const path = outputPath(out);
  const found = await Promise.all([path, dirname(path)].map((folder) => stat(folder).catch(() => undefined)));
  return found.some(Boolean);
}

function systemTimer(ms: number, task: () => void): () => void {
  const timer = setInterval(task, ms);
  return () => clearInterval(timer);
}
