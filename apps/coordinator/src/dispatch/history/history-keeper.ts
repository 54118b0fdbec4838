import type { Ledger } from '@halogrid/ledger';
import type { JobHistoryView } from '@halogrid/proto';
import type { Clock } from '@halogrid/service/clock';
import type { JobHistories } from './job-histories.ts';
import { JobHistory } from './job-history.ts';
import { readHistory, type StoredHistory, writeHistory } from './stored-history.ts';

/** A coordinator that is killed loses this much of its jobs' histories at most. */
const keepEveryMs = 30_000;

export interface HistoryKeeperOptions {
  histories: JobHistories;
  ledger: Pick<Ledger, 'history' | 'keepHistories'>;
  clock: Clock;
}

/**
 * Keeps histories with their jobs in the ledger: of running jobs twice a minute and at an orderly end of the process,
 * of ended jobs at once. A failure is not told: the ledger tells of its own, and tries facts again, and the next
 * history replaces this one.
 */
export class HistoryKeeper {
  readonly #options: HistoryKeeperOptions;
  #keptMs: number;
  #writing: Promise<void> = Promise.resolve();

  constructor(options: HistoryKeeperOptions) {
    this.#options = options;
    this.#keptMs = options.clock.monotonicMs();
  }

  /** Keeps the histories of all running jobs, if the last time is long enough ago. */
  tick(): void {
    const nowMs = this.#options.clock.monotonicMs();
    if (nowMs - this.#keptMs < keepEveryMs) return;
    this.#keptMs = nowMs;
    void this.keep(this.#options.histories.changed(nowMs));
  }

  /** Keeps histories, after those before. Never rejects. */
  keep(stored: ReadonlyMap<string, StoredHistory>): Promise<void> {
    const texts = new Map([...stored].map(([jobId, history]) => [jobId, writeHistory(history)]));
    if (texts.size > 0) {
      this.#writing = this.#writing.then(() => this.#options.ledger.keepHistories(texts)).catch(() => {});
    }
    return this.#writing;
  }

  /** What earlier leaders saw of a job; undefined if they kept nothing. Never rejects. */
  async read(jobId: string): Promise<StoredHistory | undefined> {
    const text = await this.#options.ledger.history(jobId).catch(() => undefined);
    return text === undefined ? undefined : readHistory(text);
  }

  /** As `read`, for people. */
  async view(jobId: string): Promise<JobHistoryView | undefined> {
    const stored = await this.read(jobId);
    return stored && JobHistory.from(stored, stored.elapsedMs, stored.sinceMs).view(stored.elapsedMs);
  }
}
