import { Worker } from 'node:worker_threads';
import type { Ledger, SettledSources } from '@halogrid/ledger';
import type { JobSpec } from '@halogrid/proto';
import { binsOfCell, binsOfSource } from '@halogrid/results/histogram-shape';
import type { PartPipeline } from '@halogrid/results/part-writer';
import { checkCounts } from '@halogrid/retrieval';
import { LateThread, limitConcurrency, sayEnd, ThreadClient } from '@halogrid/threads';
import { partPipelines, partsPath } from './write-part.ts';

/**
 * An order to the thread: add a pipeline's histograms of these sources to `sums`, which has the same length, and return
 * it.
 */
export interface CellsOrder extends Pick<SettledSources, 'runs'> {
  /** The folder of the job's parts. */
  parts: string;
  pipelines: readonly PartPipeline[];
  /** The index of the pipeline in `pipelines`. */
  part: number;
  sums: Float64Array<ArrayBuffer>;
}

/** The sum of a cell over the first sources of a job. */
export interface CellSum {
  /** The counts of all channels, one channel after another; each count is exact. */
  bins: Float64Array;
  /** How many sources are covered, quarantined ones included. */
  sources: number;
}

/** The cell that is asked for. */
export interface AskedCell {
  jobId: string;
  spec: JobSpec;
  /** The index of the pipeline. */
  part: number;
  /** The number of the cell, row by row, from 0. */
  cell: number;
}

/** The sums of a pipeline of a job, kept between two questions. */
interface Kept {
  sources: number;
  sums: Float64Array<ArrayBuffer>;
}

export interface LiveCellsLimits {
  /** A question is answered after this long with the sums so far; asking again covers more sources. */
  answerMs: number;
  /** Pipelines of jobs whose sums are kept, of 8 MiB each at most. */
  kept: number;
  /** The sums are forgotten and the thread ends after this long without a question. */
  idleMs: number;
}

const defaultLimits: LiveCellsLimits = { answerMs: 1_000, kept: 4, idleMs: 60_000 };

/**
 * The most counts that are added between two looks at the clock, some 20 ms of work; and the most sources in an order.
 */
const orderCounts = 2 ** 22;
const orderSources = 4096;

/**
 * Histograms of single cells of running jobs. They are added up on request, because the merged histogram covers all
 * cells together. A thread reads the parts of the job once, in order; a later question adds what has come since.
 */
export class LiveCells {
  readonly #ledger: Pick<Ledger, 'settled'>;
  readonly #limits: LiveCellsLimits;
  /** By job and part, the last used at the end. */
  readonly #kept = new Map<string, Kept>();
  /** Questions wait for each other: two about one job would add the same sources. */
  readonly #inTurn = limitConcurrency(1);
  readonly #thread = new LateThread(startThread);
  #idle: NodeJS.Timeout | undefined;

  constructor(ledger: Pick<Ledger, 'settled'>, limits = defaultLimits) {
    this.#ledger = ledger;
    this.#limits = limits;
  }

  /** Rejects with Refusal if the cells have too many counts, and with one sentence if a part cannot be read. */
  async sum(asked: AskedCell): Promise<CellSum> {
    const pipelines = partPipelines(asked.spec);
    const { shape } = pipelines[asked.part]!;
    const bins = binsOfCell(shape);
    checkCounts(shape.grid.rows * shape.grid.columns, bins);
    if (bins === 0) return { bins: new Float64Array(), sources: 0 };
    clearTimeout(this.#idle);
    try {
      return await this.#inTurn(async () => {
        const { sums, sources } = await this.#upToNow(asked, pipelines, binsOfSource(shape));
        return { bins: sums.slice(asked.cell * bins, (asked.cell + 1) * bins), sources };
      });
    } finally {
      clearTimeout(this.#idle);
      this.#idle = setTimeout(() => void this.close(), this.#limits.idleMs).unref();
    }
  }

  /** Ends the thread and forgets all sums. */
  async close(): Promise<void> {
    clearTimeout(this.#idle);
    this.#kept.clear();
    await this.#thread.end();
  }

  async #upToNow({ jobId, spec, part }: AskedCell, pipelines: PartPipeline[], length: number): Promise<Kept> {
    const parts = partsPath(spec.out);
    const key = `${jobId} ${part}`;
    // Taken out meanwhile: after a failure, the memory of the sums may belong to the thread.
    const { sources: from, sums: before } = this.#kept.get(key) ?? { sources: 0, sums: new Float64Array(length) };
    this.#kept.delete(key);
    let [sources, sums] = [from, before];
    const atMost = Math.max(1, Math.min(orderSources, Math.floor(orderCounts / length)));
    const untilMs = performance.now() + this.#limits.answerMs;
    do {
      const { next, runs } = await this.#ledger.settled(jobId, sources, atMost);
      if (next === sources) break;
      sums = await this.#thread.client.order({ parts, pipelines, part, runs, sums }, [sums.buffer]);
      sources = next;
    } while (performance.now() < untilMs);
    const kept = { sources, sums };
    this.#kept.set(key, kept);
    for (const oldest of this.#kept.keys()) if (this.#kept.size > this.#limits.kept) this.#kept.delete(oldest);
    return kept;
  }
}

function startThread(): ThreadClient<CellsOrder, Float64Array<ArrayBuffer>> {
  const worker = new Worker(new URL('./live-cells-worker.ts', import.meta.url));
  return new ThreadClient(worker, {
    ended: (end) => new Error(`the thread that adds up cells has ended: ${sayEnd(end)}`),
  });
}
