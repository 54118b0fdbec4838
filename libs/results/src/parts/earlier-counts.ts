import { redactUri } from '@halogrid/sources/redact-uri';
import { binsOfSource, digestedBins, type HistogramShape } from '../counts/histogram-shape.ts';
import { sourceDigest } from '../counts/source-digest.ts';
import { FeatureReader } from '../features/feature-reader.ts';
import type { SourceLine } from '../sources/source-list.ts';
import { alteredEarlier } from './earlier-runs.ts';

/** The files of a pipeline in an output. */
export interface EarlierPipeline {
  /** The path of the pipeline's folder. */
  folder: string;
  shape: HistogramShape;
}

/** Reads the counts of a pipeline from an output. */
export class EarlierCounts {
  readonly #pipeline: EarlierPipeline;
  /** Undefined if the pipeline has no histogram. */
  readonly #features: FeatureReader | undefined;

  /** Undefined if features.parquet is missing, or is not a Parquet file. */
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

  /** Whether the output has counts of exactly this many sources. */
  has(sources: number): boolean {
    return !this.#features || this.#features.rows === sources * this.#cells;
  }

  get #cells(): number {
    const { rows, columns } = this.#pipeline.shape.grid;
    return rows * columns;
  }

  /**
   * Reads the counts of `count` sources, end to end, into `bins`. The first source is `uri`, after `doneBefore` others.
   * Rejects with one sentence if they cannot be read.
   */
  async read(doneBefore: number, count: number, uri: string, bins: Uint32Array | Float64Array): Promise<void> {
    await this.#features?.counts(doneBefore * this.#cells, count * this.#cells, bins).catch((cause) => {
      throw alteredEarlier(redactUri(uri), this.#pipeline.folder, cause);
    });
  }

  /** Whether `bins` match the digest of a source that is done. */
  isOf(line: Extract<SourceLine, { name: string }>, bins: ArrayLike<number>): boolean {
    const digest = sourceDigest(line, line.counted, digestedBins(this.#pipeline.shape, bins));
    return line.digest === Buffer.from(digest).toString('hex');
  }

  /** How many bins `read` writes for a source. */
  get bins(): number {
    return binsOfSource(this.#pipeline.shape);
  }
}
