import type { CaptureRule } from '@halogrid/sources/captured';
import { quarantinedDigest, type SourceDigest } from '../counts/source-digest.ts';
import type { EncodedGroup } from '../features/encode-group.ts';
import { type FeatureGroup, FeatureGroups } from '../features/feature-groups.ts';
import { featureLayout } from '../features/feature-layout.ts';
import { ownBytes } from '../files/own-bytes.ts';
import {
  memoryOfSources,
  type PieceStart,
  RangeSources,
  type SourceFailure,
  type SourcesPiece,
} from '../sources/range-sources.ts';
import type { SourceLine } from '../sources/source-line.ts';
import type { PartPipeline } from './part-writer.ts';
import type { PipelineOutput } from './range-finisher.ts';
import { listLine } from './source-facts.ts';

/** The contents of a pipeline's tables for consecutive sources. A thread can transfer it to another. */
export interface RangeTables {
  /** The digest of each source, end to end. */
  digests: Uint8Array<ArrayBuffer>;
  sources: SourcesPiece;
  /** Row groups of features.parquet; empty if the pipeline has no histogram. */
  groups: FeatureGroup[];
}

/** Gathers the contents of a pipeline's tables for a range of sources, as the files have them. */
export class RangeOutput implements PipelineOutput {
  readonly #sources: RangeSources;
  readonly #pages: FeatureGroups | undefined;
  #digests: SourceDigest[] = [];
  #groups: FeatureGroup[] = [];

  constructor({ shape }: PartPipeline, rule: CaptureRule) {
    this.#sources = new RangeSources(rule);
    this.#pages = shape.bins === 0 ? undefined : new FeatureGroups(featureLayout(shape));
  }

  /** Begins a piece of a range. */
  begin(start: PieceStart): void {
    this.#sources.begin(start);
  }

  readonly source: PipelineOutput['source'] = (facts, found) => {
    this.#digests.push(found?.digest ?? quarantinedDigest);
    this.#sources.add(listLine(facts, found));
  };

  /** Takes the next source, a quarantined one. */
  setAside(line: SourceLine, failure: SourceFailure): void {
    this.#digests.push(quarantinedDigest);
    this.#sources.add(line, failure);
  }

  /** Takes the next row groups of the list. The lines of their sources were taken before. */
  addRows(groups: readonly EncodedGroup[]): void {
    this.#sources.addRows(groups);
  }

  readonly page: PipelineOutput['page'] = (page) => this.#add(this.#pages!.add(page));

  /** Ends the range and its last row groups. */
  end(): void {
    this.#sources.end();
    this.#add(this.#pages?.end());
  }

  /** Returns what was added since the last call. A row group that has not ended yet is left to a later call. */
  take(): RangeTables {
    const [digests, groups] = [ownBytes(this.#digests), this.#groups];
    this.#digests = [];
    this.#groups = [];
    return { digests, sources: this.#sources.take(), groups };
  }

  #add(group: FeatureGroup | undefined): void {
    if (group) this.#groups.push(group);
  }
}

/** The buffers of tables, to transfer them to another thread. */
export const memoryOfTables = (tables: readonly RangeTables[]): ArrayBuffer[] =>
  tables.flatMap(({ digests, sources, groups }) => [
    digests.buffer,
    ...memoryOfSources(sources),
    ...groups.flatMap(({ pieces }) => pieces.map(({ buffer }) => buffer as ArrayBuffer)),
  ]);
