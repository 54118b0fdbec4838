import { binsOfCell, type HistogramShape } from '../counts/histogram-shape.ts';
import { plainPage } from '../features/column-page.ts';
import { PageMaker } from '../features/page-maker.ts';
import { SourcePages } from '../sources/source-pages.ts';

/**
 * Makes the pages of a pipeline's rows, for one part after another: its memory, and the module that packs counts, made for each part, took a
 * sixth of the thread's processor time in parts of 16 shards (measured). Has no rows after a shard, but may have some after a failure.
 */
export class PipelinePages {
  readonly shape: HistogramShape;
  /** Of sources.parquet. */
  readonly lines = new SourcePages(plainPage);
  /** Of features.parquet; undefined where the pipeline has no histogram. */
  readonly features: PageMaker | undefined;

  constructor(shape: HistogramShape) {
    this.shape = shape;
    if (shape.bins > 0)
      this.features = new PageMaker({ grid: shape.grid, bins: binsOfCell(shape) }, undefined, plainPage);
  }
}
