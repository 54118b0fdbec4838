import { redactUri } from '@halogrid/sources/redact-uri';
import { binsOfSource, digestedBins, type HistogramShape } from '../counts/histogram-shape.ts';
import { sourceDigest } from '../counts/source-digest.ts';
import { FeatureReader } from '../features/feature-reader.ts';
import type { SourceLine } from '../sources/source-list.ts';
import { alteredEarlier } from './earlier-runs.ts';

/** What an output has of a pipeline. */
export interface EarlierPipeline {
  /** A path. */
  folder: string;
  shape: HistogramShape;
}

/** Counts that an output has of a pipeline. */
export class EarlierCounts {
  readonly #pipeline: EarlierPipeline;
  /** Undefined where the pipeline has no histogram. */
  readonly #features: FeatureReader | undefined;

  /** Undefined where its file is not there, or is not one of features. */
  static async open(pipeline: EarlierPipeline): Promise<EarlierCounts | undefined> {
    const { folder, shape } = pipeline;
    if (shape.bins === 0) return new EarlierCounts(pipeline, undefined);
    const features = await FeatureReader.open(`${folder}/features.parquet`).catch(() => undefined);
    return features && new EarlierCounts(pipeline, features);
  }

  private constructor(pipeline: EarlierPipeline, features: FeatureReader | undefined) {
    this.#pipeline = pipeline;
    this.#features = features;
  }

  /** Whether it has counts of that many sources. */
  has(sources: number): boolean {
    return !this.#features || this.#features.rows === sources * this.#cells;
  }

  get #cells(): number {
    const { rows, columns } = this.#pipeline.shape.grid;
    return rows * columns;
  }

  /**
   * Reads those of `count` sources, the first of which is `uri` and follows `doneBefore` others, end to end to `bins`. Rejects with one
   * sentence where they cannot be read.
   */
  async read(doneBefore: number, count: number, uri: string, bins: Uint32Array | Float64Array): Promise<void> {
    await this.#features?.counts(doneBefore * this.#cells, count * this.#cells, bins).catch((cause) => {
      throw alteredEarlier(redactUri(uri), this.#pipeline.folder, cause);
    });
  }

  /** Whether `bins` are those of a source that is done, by its digest. */
  isOf(line: Extract<SourceLine, { name: string }>, bins: ArrayLike<number>): boolean {
    const digest = sourceDigest(line, line.counted, digestedBins(this.#pipeline.shape, bins));
    return line.digest === Buffer.from(digest).toString('hex');
  }

  /** As many as `read` writes of one source. */
  get bins(): number {
    return binsOfSource(this.#pipeline.shape);
  }
}
