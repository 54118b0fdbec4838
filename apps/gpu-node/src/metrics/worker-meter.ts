/** Counts the work of workers of one kind: pieces of work beyond the number of workers wait. */
export class WorkerMeter {
  /** Threads, processes or devices of this kind. */
  readonly workers: number;
  readonly #nowMs: () => number;
  #underWay = 0;
  #lookedMs: number;
  #seconds = 0;

  /** `nowMs` never goes back. */
  constructor(workers: number, nowMs: () => number) {
    this.workers = workers;
    this.#nowMs = nowMs;
    this.#lookedMs = nowMs();
  }

  /** Workers that are busy now. */
  get busy(): number {
    return Math.min(this.#underWay, this.workers);
  }

  /** Pieces of work that wait for a worker now. */
  get queued(): number {
    return this.#underWay - this.busy;
  }

  /** Seconds in which workers were busy, all workers together. */
  get seconds(): number {
    this.#look();
    return this.#seconds;
  }

  begin(): void {
    this.#look();
    this.#underWay++;
  }

  end(): void {
    this.#look();
    this.#underWay--;
  }

  /** Counts `work` until it settles. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.begin();
    try {
      return await work();
    } finally {
      this.end();
    }
  }

  #look(): void {
    const nowMs = this.#nowMs();
    this.#seconds += (this.busy * (nowMs - this.#lookedMs)) / 1000;
    this.#lookedMs = nowMs;
  }
}
