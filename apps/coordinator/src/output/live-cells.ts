import { Worker } from 'node:worker_threads';
import type { Ledger, SettledSources } from '@halogrid/ledger';
import type { JobSpec } from '@halogrid/proto';
import { binsOfCell, binsOfSource } from '@halogrid/results/histogram-shape';
import type { PartPipeline } from '@halogrid/results/part-writer';
import { checkCounts } from '@halogrid/retrieval';
import { LateThread, limitConcurrency, sayEnd, ThreadClient } from '@halogrid/threads';
import { partPipelines, partsPath } from './write-part.ts';

/** What the thread does: adds the histograms that a pipeline has of those sources to sums of as many counts, and gives the sums back. */
export interface CellsOrder extends Pick<SettledSources, 'runs'> {
  /** The folder of the job's parts. */
  parts: string;
  pipelines: readonly PartPipeline[];
  /** The place of the pipeline. */
  part: number;
  sums: Float64Array<ArrayBuffer>;
}

/** The sum of a cell over the first sources of a job. */
export interface CellSum {
  /** Every channel, one after another; each count is exact. */
  bins: Float64Array;
  /** How many sources are looked at, those that are quarantined among them. */
  sources: number;
}

/** Which cell of which job. */
export interface AskedCell {
  jobId: string;
  spec: JobSpec;
  /** The place of the pipeline. */
  part: number;
  /** Row by row, from 0. */
  cell: number;
}

/** What is kept between two questions. */
interface Kept {
  sources: number;
  sums: Float64Array<ArrayBuffer>;
}

export interface LiveCellsLimits {
  /** A question is answered after so long with what is added up by then: who asks again is told of more sources. */
  answerMs: number;
  /** Pipelines of jobs whose sums are kept, of 8 MiB each at most. */
  kept: number;
  /** The sums and the thread go after so long without a question. */
  idleMs: number;
}

const defaultLimits: LiveCellsLimits = { answerMs: 1_000, kept: 4, idleMs: 60_000 };

/** Counts that are added between two looks at the clock, some 20 ms of work; sources that are told as objects, at most. */
const orderCounts = 2 ** 22;
const orderSources = 4096;

/**
 * Cells of jobs that go on, each by itself. They are added up when they are asked for: the merged histogram is over all
 * cells. A thread reads the parts of the job once, in order; a later question adds what has come since.
 */
export class LiveCells {
  readonly #ledger: Pick<Ledger, 'settled'>;
  readonly #limits: LiveCellsLimits;
  /** By job and part; who was asked for last is last. */
  readonly #kept = new Map<string, Kept>();
  /** Questions wait for each other: two of one job would add the same sources. */
  readonly #inTurn = limitConcurrency(1);
  readonly #thread = new LateThread(startThread);
  #idle: NodeJS.Timeout | undefined;

  constructor(ledger: Pick<Ledger, 'settled'>, limits = defaultLimits) {
    this.#ledger = ledger;
    this.#limits = limits;
  }

  /** Rejects with Refusal where the cells have too many counts, or with one sentence where a part cannot be read. */
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
    // What fails on the way is forgotten, and its memory may be the thread's.
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
