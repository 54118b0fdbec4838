import { resultsVersion } from '@halogrid/service';
import { IndexError } from './index-error.ts';
import type { PipelineIdentity } from './pipeline-identity.ts';

/** Throws IndexError if this program computes other histograms of an image than the index has. */
export function checkComputable(pipeline: PipelineIdentity): void {
  const { bands } = pipeline;
  if (bands) {
    throw new IndexError(
      `The index holds histograms of bands ${bands.join(', ')}, and of an image asked for its colours are read: ` +
        'ask for frames of the index',
    );
  }
  if (pipeline.resultsVersion === resultsVersion) return;
  throw new IndexError(
    `The index holds results version ${pipeline.resultsVersion} and this halogrid computes ${resultsVersion}: ` +
      'index jobs of this version, or ask for frames of the index',
  );
}
