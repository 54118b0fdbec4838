import type { Load, WorkerLoad } from '@halogrid/proto';
import { type MeteredWorkers, type WorkerKind, workerKinds } from './expose-work.ts';

/** Reports how busy the workers of a node were since the last report. */
export class LoadSampler {
  readonly #workers: Readonly<Record<WorkerKind, MeteredWorkers>>;
  readonly #nowMs: () => number;
  readonly #seconds: Record<WorkerKind, number>;
  #askedMs: number;
  #wasIdle = true;

  /** `nowMs` never goes back. */
  constructor(workers: Readonly<Record<WorkerKind, MeteredWorkers>>, nowMs: () => number) {
    this.#workers = workers;
    this.#nowMs = nowMs;
    this.#askedMs = nowMs();
    this.#seconds = { decode: workers.decode.seconds, video: workers.video.seconds, device: workers.device.seconds };
  }

  /** Undefined if all workers are idle, as in the last report: that is reported once. */
  take(): Load | undefined {
    const nowMs = this.#nowMs();
    const seconds = (nowMs - this.#askedMs) / 1000;
    this.#askedMs = nowMs;
    const [decode, video, device] = workerKinds.map((kind) => this.#loadOf(kind, seconds));
    const isIdle = [decode, video, device].every((load) => load?.busy === 0 && load.queued === 0);
    const isNews = !isIdle || !this.#wasIdle;
    this.#wasIdle = isIdle;
    return isNews ? { decode, video, device } : undefined;
  }

  #loadOf(kind: WorkerKind, overSeconds: number): WorkerLoad {
    const { workers, queued, seconds } = this.#workers[kind];
    const busySeconds = seconds - this.#seconds[kind];
    this.#seconds[kind] = seconds;
    return { workers, queued, busy: overSeconds > 0 ? busySeconds / overSeconds : 0 };
  }
}
