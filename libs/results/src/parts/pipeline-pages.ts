import { binsOfCell, type HistogramShape } from '../counts/histogram-shape.ts';
import { plainPage } from '../features/column-page.ts';
import { PageMaker } from '../features/page-maker.ts';
import { SourcePages } from '../sources/source-pages.ts';

/**
 * Makes the pages of a pipeline's rows, for one part after another. With new memory and a new WebAssembly module for
 * each part, these took a sixth of the thread's processor time in parts of 16 shards (measured). It holds no rows after
 * a shard, but may hold some after a failure.
 */
export class PipelinePages {
  readonly shape: HistogramShape;
  /** Makes the pages of sources.parquet. */
  readonly lines = new SourcePages(plainPage);
  /** Makes the pages of features.parquet; undefined if the pipeline has no histogram. */
  readonly features: PageMaker | undefined;

  constructor(shape: HistogramShape) {
    this.shape = shape;
    if (shape.bins > 0)
      this.features = new PageMaker({ grid: shape.grid, bins: binsOfCell(shape) }, undefined, plainPage);
  }
}
