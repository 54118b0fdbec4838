import type { CaptureRule } from '@halogrid/sources/captured';
import { SourceBlock } from '@halogrid/sources/source-block';
import { binsOfCell } from '../counts/histogram-shape.ts';
import type { PlacedPage } from '../features/encode-page.ts';
import { PageMaker } from '../features/page-maker.ts';
import { checkShard } from './check-shard.ts';
import type { FoundFacts, ShardRow } from './found-shard.ts';
import type { PartReader } from './part-reader.ts';
import type { FoundInPart, PartPipeline } from './part-writer.ts';
import { featureSource, type SourceFacts, sourceFacts, withTime } from './source-facts.ts';

/** Some or all sources of a block, with the place of their results. */
export interface SettledShard {
  /** The sources, as SourceBlock reads them. */
  block: Uint8Array;
  /** Absent if all sources of the block are quarantined. */
  found?: FoundInPart;
  /**
   * The next consecutive sources: the place of the first in the block, and how many. Unless given, all of the block.
   */
  from?: number;
  count?: number;
}

/** The most checked shards that are kept, because sources of several shards may alternate. */
const mostHeld = 4;

/** Receives the results of a pipeline. */
export interface PipelineOutput {
  /** Takes the next page of features.parquet. Not called if the pipeline has no histogram. */
  page(page: PlacedPage): void;
  /** Takes the next source; `found` is absent for a quarantined one. */
  source(facts: SourceFacts, found: FoundFacts | undefined): void;
}

export interface FinisherOptions {
  reader: PartReader;
  pipelines: readonly PartPipeline[];
  /** Where capture times come from. */
  rule: CaptureRule;
  /** One output per pipeline. */
  outputs: readonly PipelineOutput[];
}

/**
 * Makes outputs of a range of sources from parts, shard by shard, in the order of source numbers. It uses nothing of a
 * shard before all of its rows are checked. It encodes pages again, from checked counts and the plan: comparing the
 * other columns of a page with the plan would take as long, and this way their bytes do not depend on the writer of the
 * part.
 */
export class RangeFinisher {
  readonly #options: FinisherOptions;
  /** One entry per pipeline; undefined for one without a histogram. */
  readonly #pages: readonly (PageMaker | undefined)[];
  /** The rows of the shards that were checked last, by the part and the place of the shard. */
  readonly #held = new Map<string, ShardRow[]>();

  constructor(options: FinisherOptions) {
    this.#options = options;
    this.#pages = options.pipelines.map(({ shape }) =>
      shape.bins === 0 ? undefined : new PageMaker({ ...shape, bins: binsOfCell(shape) }),
    );
  }

  /**
   * Adds the next sources. Rejects with PartError if their part differs from the answer. Then nothing was added, so the
   * sources may be added again with another part. After another failure, such as a full disk, remove the outputs.
   */
  async add({ block: bytes, found, from = 0, count }: SettledShard): Promise<void> {
    const { rule } = this.#options;
    const block = new SourceBlock(bytes);
    const rows = found ? await this.#rowsOf(block, found) : this.#quarantined(block);
    const end = from + (count ?? block.length);
    for (const { part, nth, found: stated } of rows) {
      if (nth < from || nth >= end) continue;
      const output = this.#options.outputs[part]!;
      const facts = sourceFacts(block, nth);
      const source = stated && withTime(rule, facts, stated);
      output.source(facts, source);
      const pages = this.#pages[part];
      if (!source || !pages) continue;
      const { bins } = this.#options.pipelines[part]!.shape;
      const feature = featureSource(facts, source.captured, rule);
      for (const page of pages.addSource(feature, source.bins, bins)) output.page(page);
    }
  }

  /** Ends the range. Another one may follow. */
  end(): void {
    for (const [part, pages] of this.#pages.entries()) {
      const page = pages?.end();
      if (page) this.#options.outputs[part]!.page(page);
    }
  }

  async #rowsOf(block: SourceBlock, found: FoundInPart): Promise<ShardRow[]> {
    const { reader, pipelines } = this.#options;
    const key = `${found.part} ${found.places[0]?.sources.start}`;
    const held = this.#held.get(key);
    if (held) return held;
    const shard = await reader.read(found, block);
    const checked = checkShard(
      shard,
      block,
      pipelines.map(({ shape }) => shape),
      found,
    );
    if ('wrong' in checked) throw reader.error(found.part, checked.wrong);
    this.#held.set(key, checked.rows);
    for (const oldest of this.#held.keys()) if (this.#held.size > mostHeld) this.#held.delete(oldest);
    return checked.rows;
  }

  #quarantined(block: SourceBlock): ShardRow[] {
    return this.#options.pipelines.flatMap((_, part) =>
      Array.from({ length: block.length }, (_, nth): ShardRow => ({ part, nth })),
    );
  }
}
