import { join } from 'node:path';
import type { Pipeline } from '@halogrid/kernels';
import type { JobSpec } from '@halogrid/proto';
import { histogramShape } from '../job/histogram-shape.ts';
import { jobGrid } from '../job/job-grid.ts';
import { FeaturesFile, type FeaturesFileOptions } from './features-file.ts';
import { newOutputPath, unfinishedFeaturesPath } from './output-folder.ts';

/** features.parquet of a job whose folder is claimed; undefined where its pipeline has no histogram. */
export function openFeatures(
  { spec, pipeline }: { spec: JobSpec; pipeline: Pipeline },
  events: Pick<FeaturesFileOptions, 'settled' | 'failed'>,
): FeaturesFile | undefined {
  if (pipeline.bins === 0) return undefined;
  return new FeaturesFile({
    path: join(newOutputPath(spec.out), 'features.parquet'),
    unfinishedPath: unfinishedFeaturesPath(spec.out),
    shape: histogramShape(pipeline, jobGrid(spec)),
    ...events,
  });
}
