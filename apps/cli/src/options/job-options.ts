import {
  type BorderMode,
  borderModes,
  checkGrid,
  type Grid,
  hasExactHistogram,
  kernelNames,
  overBands,
  type Pipeline,
} from '@halogrid/kernels';
import {
  jobPriorities,
  type MaxQuarantined,
  mapFormats,
  maxBatchFrames,
  maxTilePx,
  type SubmitRequest,
  whyNotVerified,
} from '@halogrid/proto';
import { named, sentence } from '@halogrid/proto/sentence';
import { whyNotHeld } from '@halogrid/results/map-format';
import { UsageError } from '@halogrid/service';
import { toFileUri, toOutUri, toUri } from '@halogrid/sources/to-uri';
import type { Command } from 'commander';
import { optionOfField } from '../client/option-of-field.ts';
import { addCapturedOptions, type CapturedChoice, capturedOptions } from './captured-options.ts';
import { addFilterOptions, type FilterChoice, filterOptions } from './filter-options.ts';
import { addLevelOption, type LevelChoice } from './level-option.ts';
import { collect, countOrPercentage, parseWord, percentage, wholeNumber } from './option-values.ts';
import { addPageOption, type PageChoice } from './page-option.ts';
import { readBorder } from './read-border.ts';
import { inOption, readPipelines, saying, specifiedPipelines } from './read-pipelines.ts';
import { addSampleOptions, type SampleChoice } from './sample-options.ts';
import { addUncountedOptions, type UncountedChoice } from './uncounted-options.ts';
import { addVideoOptions, type VideoChoice, videoOptions } from './video-options.ts';

/** What the options of `addJobOptions` parse to. */
export interface JobOptions
  extends VideoChoice,
    CapturedChoice,
    FilterChoice,
    SampleChoice,
    LevelChoice,
    PageChoice,
    UncountedChoice {
  op?: string[];
  pipeline?: string[];
  border?: BorderMode;
  out?: string;
  map: string;
  grid: string;
  tile?: number;
  batch?: number;
  priority?: number;
  verify?: number;
  checksum?: boolean;
  fresh?: boolean;
  maxQuarantined?: MaxQuarantined;
  waitForNode?: boolean;
}

const kernels = `${kernelNames.slice(0, -1).join(', ')} or ${kernelNames.at(-1)}`;

/** Adds the options that say what a job computes, for every command with a job. */
export function addJobOptions(command: Command): Command {
  const { lowest, highest } = jobPriorities;
  command
    .option(
      '--op <name[:k=v,…]>',
      `a kernel: ${kernels}; repeat it to compute several in a row (default: lbp)`,
      collect,
    )
    .option(
      '--pipeline <name=op[+op…]>',
      'instead of --op: one of up to 8 pipelines that share one decode; repeat it for each',
      collect,
    )
    .option(
      '--border <mode>',
      `pixels outside the image: ${borderModes.join(', ')} (default: the kernel's own)`,
      readBorder,
    )
    .option('-o, --out <dir|uri>', 'the output folder, or s3://bucket/prefix (default: halogrid-out/<job id>)')
    .option(
      '--map <format>',
      `the dense result of every source: ${mapFormats.join(', ')}`,
      parseWord('--map', mapFormats),
      'none',
    )
    .option('--grid <RxC>', 'also compute a histogram for each cell of a grid over each image', '1x1')
    .option(
      '--tile <px>',
      'side of the tiles that images are cut into (default: chosen automatically)',
      wholeNumber('--tile', 1, maxTilePx),
    )
    .option(
      '--batch <n>',
      'frames in a shard, or in a segment of a video, at most (default: chosen automatically)',
      wholeNumber('--batch', 1, maxBatchFrames),
    )
    .option(
      '--priority <n>',
      `jobs with a higher priority go first: ${lowest} to ${highest} (default: 0)`,
      wholeNumber('--priority', lowest, highest),
    )
    .option(
      '--verify <percent>',
      'share of shards to compute a second time on the CPU as a check; nodes with wrong results are removed (default: 0)',
      percentage('--verify'),
    )
    .option(
      '--max-quarantined <N|P%>',
      'fail when more inputs than this are quarantined (default: no limit)',
      countOrPercentage('--max-quarantined'),
    )
    .option(
      '--wait-for-node',
      'wait if no attached node can read the sources or write the results (default: fail after a while)',
    )
    .option('--checksum', 'compare the content of files to find what changed since the last run with this --out')
    .option('--fresh', 'compute everything, whatever the last run with this --out did');
  const ofImages = addSampleOptions(addPageOption(addLevelOption(addUncountedOptions(addFilterOptions(command)))));
  return addVideoOptions(addCapturedOptions(ofImages));
}

/** The request for the job that the options describe; relative paths are seen from `folder`. Throws UsageError. */
export function parseJob(sources: readonly string[], options: JobOptions, folder: string): SubmitRequest {
  const pipelines = readPipelines(options, folder);
  const grid = parseGrid(options.grid);
  for (const { name, pipeline } of pipelines) {
    saying(name, () => checkResults(overBands(options.band?.numbers ?? [], pipeline), options, grid));
  }
  const spec = {
    sources: sources.map((source, i) => absoluteUri(source, folder, toUri, optionOfField(`sources[${i}]`))),
    ...specifiedPipelines(pipelines),
    op: [],
    out: absoluteUri(options.out ?? 'halogrid-out', folder, toOutUri, '--out'),
    mapFormat: options.map,
    tilePx: options.tile ?? 0,
    batchFrames: options.batch ?? 0,
    grid,
    priority: options.priority || undefined,
    verifyPercent: options.verify || undefined,
    checksum: options.checksum || undefined,
    fresh: options.fresh || undefined,
    maxQuarantined: options.maxQuarantined,
    waitForNode: options.waitForNode || undefined,
    video: videoOptions(options),
    captured: capturedOptions(options),
    filter: filterOptions(options),
    column: options.column || undefined,
    nodata: options.nodata,
    mask: options.mask === undefined ? undefined : absoluteUri(options.mask, folder, toFileUri, '--mask'),
    level: options.level || undefined,
    page: options.page,
    band: options.band,
    scale: options.scale,
  };
  return { spec, nameOutByJob: options.out === undefined };
}

/** Throws UsageError if a pipeline cannot give the results that are asked for. */
function checkResults(pipeline: Pipeline, options: JobOptions, grid: Grid): void {
  const { sample, channels } = pipeline.output;
  const why = whyNotHeld(options.map, { sample, bands: channels.length }, pipeline.bins);
  if (why) {
    throw new UsageError(
      sentence`Expected tiff, zarr or none for ${named('--map')} but received '${options.map}', because ${why}`,
    );
  }
  if (options.verify && !hasExactHistogram(pipeline)) {
    throw new UsageError(
      sentence`Expected 0 for ${named('--verify')} but received '${options.verify}', because ${whyNotVerified}`,
    );
  }
  inOption(named('--grid'), () => checkGrid(grid, pipeline));
}

function parseGrid(text: string): Grid {
  const [, rows, columns] = /^([1-9]\d{0,6})x([1-9]\d{0,6})$/.exec(text) ?? [];
  if (!rows || !columns) {
    throw new UsageError(
      sentence`Expected RxC with whole numbers from 1, such as 4x6, for ${named('--grid')} but received '${text}'`,
    );
  }
  return { rows: Number(rows), columns: Number(columns) };
}

/** The absolute URI for a path or URI. Throws UsageError for a place that this version cannot read or write. */
function absoluteUri(pathOrUri: string, folder: string, convert: typeof toUri, option: string): string {
  if (pathOrUri === '') throw new UsageError(sentence`Expected a path for ${named(option)} but received ''`);
  try {
    return convert(pathOrUri, folder);
  } catch (error) {
    throw new UsageError(sentence`${(error as Error).message} (${named(option)})`);
  }
}
