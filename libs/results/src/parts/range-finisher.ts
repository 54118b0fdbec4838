import { type CaptureOptions, CaptureRule } from '@halogrid/sources/captured';
import { SourceBlock } from '@halogrid/sources/source-block';
import { binsOfCell } from '../counts/histogram-shape.ts';
import type { FeatureFiles } from '../features/feature-files.ts';
import { PageMaker } from '../features/page-maker.ts';
import { checkShard } from './check-shard.ts';
import type { FoundSource, ShardRow } from './found-shard.ts';
import type { PartReader } from './part-reader.ts';
import type { FoundInPart, PartPipeline } from './part-writer.ts';
import { featureSource, type SourceFacts, sourceFacts } from './source-facts.ts';

/** Sources that follow one another, as SourceBlock reads them, and what was found of them; absent where all are quarantined. */
export interface SettledShard {
  block: Uint8Array;
  found?: FoundInPart;
}

/** Where what a pipeline found goes. */
export interface PipelineOutput {
  /** Absent where the pipeline has no histogram. */
  features?: FeatureFiles;
  /** Takes the next source; `found` is absent of one that is quarantined. What it returns is waited for. */
  source(facts: SourceFacts, found: FoundSource | undefined): Promise<void> | undefined;
}

export interface FinisherOptions {
  reader: PartReader;
  pipelines: readonly PartPipeline[];
  /** How it is known when sources were captured; absent: by what files state. */
  captured?: CaptureOptions;
  /** One a pipeline. */
  outputs: readonly PipelineOutput[];
}

/**
 * Makes outputs of a range of sources of what is in parts, shard by shard in the order of their numbers. Nothing is taken from a part before all
 * that it has of a shard was checked. Pages are encoded again of its counts and of the plan: what they say beside counts would have to be
 * compared with the plan, which takes as long, and their bytes do not depend on who wrote the part then.
 */
export class RangeFinisher {
  readonly #options: FinisherOptions;
  readonly #rule: CaptureRule;
  /** One a pipeline. */
  readonly #pages: readonly (PageMaker | undefined)[];

  constructor(options: FinisherOptions) {
    this.#options = options;
    this.#rule = new CaptureRule(options.captured);
    this.#pages = options.pipelines.map(({ shape }) =>
      shape.bins === 0 ? undefined : new PageMaker({ grid: shape.grid, bins: binsOfCell(shape) }),
    );
  }

  /**
   * Adds the next shard. Rejects with PartError where its part does not have what was answered: nothing of it was added then, so that it may
   * be added again with another part. After another failure, such as of a disk that is full, the outputs are to be removed.
   */
  async add({ block: bytes, found }: SettledShard): Promise<void> {
    const block = new SourceBlock(bytes);
    const rows = found ? await this.#rowsOf(block, found) : this.#quarantined(block);
    for (const { part, nth, found: source } of rows) {
      const output = this.#options.outputs[part]!;
      const facts = sourceFacts(block, nth);
      const added = output.source(facts, source);
      if (added) await added;
      if (!source || !output.features) continue;
      const { bins } = this.#options.pipelines[part]!.shape;
      const feature = featureSource(facts, source.captured, this.#rule);
      for (const page of this.#pages[part]!.addSource(feature, source.bins, bins)) await output.features.append(page);
    }
  }

  /** Ends the range. The outputs are left to be finished. */
  async end(): Promise<void> {
    for (const [part, pages] of this.#pages.entries()) {
      const page = pages?.end();
      if (page) await this.#options.outputs[part]!.features!.append(page);
    }
  }

  async #rowsOf(block: SourceBlock, found: FoundInPart): Promise<ShardRow[]> {
    const { reader, pipelines } = this.#options;
    const shard = await reader.read(found, block);
    const checked = checkShard(
      shard,
      block,
      pipelines.map(({ shape }) => shape),
      found,
    );
    if ('wrong' in checked) throw reader.error(found.part, checked.wrong);
    return checked.rows;
  }

  #quarantined(block: SourceBlock): ShardRow[] {
    return this.#options.pipelines.flatMap((_, part) =>
      Array.from({ length: block.length }, (_, nth): ShardRow => ({ part, nth })),
    );
  }
}
