import { resultsVersion } from '@halogrid/service';
import { IndexError } from './index-error.ts';
import type { PipelineIdentity } from './pipeline-identity.ts';

/** Throws IndexError if pixels are not searched by the pipeline of an index, because it reads several bands. */
export function checkOneBand({ bands = [] }: PipelineIdentity): void {
  if (bands.length < 2) return;
  throw new IndexError(
    `The index holds histograms of bands ${bands.join(', ')}, and parts of images and pictures are read in one band: ` +
      'ask for frames of the index, or on the command line for whole images',
  );
}

/** Throws IndexError if this program computes other histograms of an image than the index has. */
export function checkComputable(pipeline: PipelineIdentity): void {
  if (pipeline.resultsVersion === resultsVersion) return;
  throw new IndexError(
    `The index holds results version ${pipeline.resultsVersion} and this halogrid computes ${resultsVersion}: ` +
      'index jobs of this version, or ask for frames of the index',
  );
}
