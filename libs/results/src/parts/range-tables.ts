import { binsOfCell } from '../counts/histogram-shape.ts';
import { type FeatureGroup, FeatureGroups } from '../features/feature-groups.ts';
import { pageLayout } from '../features/page-layout.ts';
import { FoundList, type PackedFound } from './found-list.ts';
import type { PartPipeline } from './part-writer.ts';
import type { PipelineOutput } from './range-finisher.ts';

/** What a pipeline found of sources that follow one another, as outputs have it; a thread can hand it to another. */
export interface RangeTables {
  found: PackedFound;
  /** The row groups of features.parquet that have ended; none where the pipeline has no histogram. */
  groups: FeatureGroup[];
}

/** Gathers what a pipeline found of a range of sources. */
export class RangeOutput implements PipelineOutput {
  readonly #list = new FoundList();
  readonly #pages: FeatureGroups | undefined;
  #groups: FeatureGroup[] = [];

  constructor({ shape }: PartPipeline) {
    const { rows, columns } = shape.grid;
    this.#pages = shape.bins === 0 ? undefined : new FeatureGroups(pageLayout(rows * columns, binsOfCell(shape)));
  }

  readonly source: PipelineOutput['source'] = (found) => this.#list.add(found);

  readonly page: PipelineOutput['page'] = (page) => this.#add(this.#pages!.add(page));

  /** Ends the range: its last row group. */
  end(): void {
    this.#add(this.#pages?.end());
  }

  /** What was added since the last call. A row group is that of a later call until it has ended. */
  take(): RangeTables {
    const groups = this.#groups;
    this.#groups = [];
    return { found: this.#list.take(), groups };
  }

  #add(group: FeatureGroup | undefined): void {
    if (group) this.#groups.push(group);
  }
}

/** The memory of tables that changes hands. */
export const memoryOfTables = (tables: readonly RangeTables[]): ArrayBuffer[] =>
  tables.flatMap(({ found, groups }) => [
    found.numbers.buffer,
    found.digests.buffer,
    ...groups.flatMap(({ pieces }) => pieces.map(({ buffer }) => buffer as ArrayBuffer)),
  ]);
