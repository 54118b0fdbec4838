import { binsOfCell, type HistogramShape } from '../counts/histogram-shape.ts';
import { matrixColumnNames } from './matrix-columns.ts';
import { type FileLimits, type PageLayout, pageLayout } from './page-layout.ts';

/** The layout of features.parquet for a pipeline with a histogram. */
export const featureLayout = (shape: HistogramShape, limits?: FileLimits): PageLayout =>
  pageLayout(shape.grid.rows * shape.grid.columns, binsOfCell(shape), limits, matrixColumnNames(shape.matrices));
