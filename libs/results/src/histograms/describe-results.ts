import { type Grid, type Pipeline, specifiedOperations } from '@halogrid/kernels';
import type { JobSpec } from '@halogrid/proto';
import { resultsVersion, softwareVersion } from '@halogrid/service/version';

/** The options that decide which pixels of a source are read, and which of them count. */
const choices = ['band', 'scale', 'level', 'page', 'nodata', 'mask'] as const;
export type Choices = Pick<JobSpec, (typeof choices)[number]>;

/** The description that a file of results has in itself, so that nothing else is needed to read it. */
export interface ResultDescription {
  /** The version of the software that computed it. */
  version: string;
  resultsVersion: number;
  /** The digest of the job, as in job.json. */
  digest: string;
  /** The kernels in order, with their border rules and all parameters, also default ones. */
  pipeline: { kernel: string; parameters: Record<string, string>; border: string }[];
  convention: string;
  /** Cells of each image. */
  grid: { rows: number; columns: number };
  /** Channels of the images that were read. */
  input: readonly string[];
  /** Bands of the images that were read, each as gray; absent if it was not several. */
  bands?: readonly number[];
  /** The options of `choices` that the job was given, as `specification` of job.json has them; absent without one. */
  chosen?: Partial<Choices>;
  histogram: {
    /** Bins per channel; 0 without a histogram. */
    binsPerChannel: number;
    /** Rows and columns of each channel's matrix; absent if channels are no matrices. */
    levels?: number;
    /** What bin i counts. */
    bin?: string;
    /** The channels, in the order of their bins. */
    channels: { name: string; of: string }[];
  };
}

export function describeResults(
  pipeline: Pipeline,
  grid: Grid,
  digest: string,
  options: Choices = {},
): ResultDescription {
  const { output, words, bins, convention, input, bands, pairs } = pipeline;
  const chosen = Object.fromEntries(choices.flatMap((name) => (options[name] ? [[name, options[name]]] : [])));
  return {
    version: softwareVersion,
    resultsVersion,
    digest,
    pipeline: specifiedOperations(pipeline),
    convention,
    grid,
    input,
    ...(bands && { bands }),
    ...(Object.keys(chosen).length > 0 && { chosen }),
    histogram: {
      binsPerChannel: bins,
      ...(pairs && { levels: pairs.levels }),
      bin: words.bin,
      channels: output.channels.map((name, i) => ({ name, of: words.channels[i]! })),
    },
  };
}
