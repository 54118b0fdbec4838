import { resultsVersion } from '@halogrid/service';
import { IndexError } from './index-error.ts';
import type { PipelineIdentity } from './pipeline-identity.ts';

/** Throws IndexError if this program computes other histograms than the index has. */
export function checkComputable(pipeline: PipelineIdentity): void {
  if (pipeline.resultsVersion === resultsVersion) return;
  throw new IndexError(
    `The index holds results version ${pipeline.resultsVersion} and this halogrid computes ${resultsVersion}: ` +
      'index jobs of this version, or ask for frames of the index',
  );
}
