import { type Grid, type Pipeline, specifiedOperations } from '@halogrid/kernels';
import { resultsVersion, softwareVersion } from '@halogrid/service/version';

/** What a file of results says of itself, so that nothing else is needed to read it. */
export interface ResultDescription {
  /** The version of the software that computed it. */
  version: string;
  resultsVersion: number;
  /** The job's, as job.json has it. */
  digest: string;
  /** Every parameter, those too that were not asked for, and the border rule of each kernel. */
  pipeline: { kernel: string; parameters: Record<string, string>; border: string }[];
  convention: string;
  /** Cells of each image. */
  grid: { rows: number; columns: number };
  /** Channels of the images that were read. */
  input: readonly string[];
  histogram: {
    /** Bins a channel; 0 where there is no histogram. */
    binsPerChannel: number;
    /** What bin i counts. */
    bin?: string;
    /** In the order in which their bins follow one another. */
    channels: { name: string; of: string }[];
  };
}

export function describeResults(pipeline: Pipeline, grid: Grid, digest: string): ResultDescription {
  const { output, words, bins, convention, input } = pipeline;
  return {
    version: softwareVersion,
    resultsVersion,
    digest,
    pipeline: specifiedOperations(pipeline),
    convention,
    grid,
    input,
    histogram: {
      binsPerChannel: bins,
      ...(words.bin !== undefined && { bin: words.bin }),
      channels: output.channels.map((name, i) => ({ name, of: words.channels[i]! })),
    },
  };
}
