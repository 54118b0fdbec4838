import { stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import {
  checkGrid,
  type Grid,
  hasExactHistogram,
  maxImageBins,
  ParameterError,
  type Pipeline,
} from '@halogrid/kernels';
import type { JobSpec, MaxQuarantined } from '@halogrid/proto';
import { allowedColumns, isColumn } from '@halogrid/proto/column';
import {
  jobPriorities,
  mapFormats,
  maxBatchFrames,
  maxPage,
  maxShares,
  maxSources,
  maxTilePx,
  maxUriLength,
  whyNotVerified,
} from '@halogrid/proto/job-limits';
import { allowedLevels, canonicalLevel } from '@halogrid/proto/level';
import { allowedNoData, canonicalNoData } from '@halogrid/proto/no-data';
import { named, sentence } from '@halogrid/proto/sentence';
import { whyNotHeld } from '@halogrid/results/map-format';
import { allowedPath, checkAllowedPrefix, isBucketUri, SourceForbiddenError, toPrefixUri } from '@halogrid/sources';
import { CaptureOptionsError, checkCaptureOptions } from '@halogrid/sources/captured';
import { checkFilter, FilterError } from '@halogrid/sources/filter';
import { jobGrid } from '../accepted-job.ts';
import { mapType } from '../map-type.ts';
import { Refusal, refusalOf, refuseValue } from '../refusal.ts';
import { checkPipelines } from './check-pipelines.ts';
import { checkedBand, checkedScale } from './check-samples.ts';
import { checkSources } from './check-sources.ts';
import { checkVideo } from './check-video.ts';
import { tilePxOfBands } from './tile-of-bands.ts';

/**
 * Checks a whole specification. Returns it in canonical form, with its first pipeline. Throws Refusal: 'invalid' for a
 * wrong option, 'missing' for a source that leads to no input, 'forbidden' for a source that this process may not read
 * or an output that it may not write.
 *
 * `check` is checkSources, here or on another thread, until `signal` aborts.
 */
export async function checkSpec(
  given: JobSpec,
  check: typeof checkSources = checkSources,
  signal?: AbortSignal,
): Promise<{ spec: JobSpec; pipeline: Pipeline }> {
  const { sources, out, mapFormat, tilePx, batchFrames, video, priority = 0, verifyPercent = 0 } = given;
  const { pipelines, fields, grid } = checkWork(given);
  if (sources.length === 0)
    throw new Refusal('invalid', sentence`Expected at least one source for ${named('sources')} but received none`);
  if (sources.length > maxSources) {
    refuseValue(sentence`the number of ${named('sources')}`, sources.length, `1 to ${maxSources}`);
  }
  for (const [i, uri] of sources.entries()) checkLength(uri, `sources[${i}]`);
  checkLength(out, 'out');
  await checkOut(out);
  for (const pipeline of pipelines) checkMapFormat(mapFormat, pipeline);
  if (tilePx > maxTilePx) refuseValue('tile_px', tilePx, `0 to ${maxTilePx}`);
  if (batchFrames > maxBatchFrames) refuseValue('batch_frames', batchFrames, `0 to ${maxBatchFrames}`);
  checkPriority(priority);
  for (const pipeline of pipelines) checkVerify(verifyPercent, pipeline);
  checkMaxQuarantined(given.maxQuarantined);
  const captured = checkCaptured(given);
  const filter = checkedFilter(given);
  const column = checkedColumn(given);
  const nodata = checkedNoData(given);
  await checkMask(given);
  const level = checkedLevel(given);
  const page = given.page ?? 0;
  if (page > maxPage) refuseValue('page', page, `1 to ${maxPage}`);
  const band = checkedBand(given);
  const scale = checkedScale(given);
  const share = checkShare(given);
  const videoField = checkVideo(given);
  // The sources of a written plan were checked when it was made.
  if (!share?.plan) await check(sources, videoField, { signal, filter, column });

  // Stored specifications have no `op`, so that they equal those that earlier versions stored.
  const spec = { sources, ...fields, out, mapFormat, tilePx, batchFrames, grid } as JobSpec;
  // Options that are not asked for are left out, as in specifications from before the option existed.
  spec.priority = priority || undefined;
  spec.verifyPercent = verifyPercent || undefined;
  spec.video = video;
  spec.checksum = given.checksum || undefined;
  spec.fresh = given.fresh || undefined;
  spec.maxQuarantined = given.maxQuarantined;
  spec.waitForNode = given.waitForNode || undefined;
  if (captured) spec.captured = captured;
  if (filter) spec.filter = filter;
  if (column) spec.column = column;
  if (nodata) spec.nodata = nodata;
  if (given.mask) spec.mask = given.mask;
  if (level) spec.level = level;
  if (page) spec.page = page;
  if (band) spec.band = band;
  // Kept in the specification, so that every coordinator that leads the job cuts as it was planned.
  spec.tilePx ||= tilePxOfBands(spec);
  if (scale) spec.scale = scale;
  if (share) spec.share = share;
  return { spec, pipeline: pipelines[0] };
}

function checkPriority(priority: number): void {
  const { lowest, highest } = jobPriorities;
  if (!Number.isInteger(priority) || priority < lowest || priority > highest) {
    refuseValue('priority', priority, `${lowest} to ${highest}`);
  }
}

function checkVerify(percent: number, pipeline: Pipeline): void {
  if (!(percent >= 0 && percent <= 100)) refuseValue('verify_percent', percent, '0 to 100');
  if (percent > 0 && !hasExactHistogram(pipeline))
    refuseValue('verify_percent', percent, `0, because ${whyNotVerified}`);
}

function checkWork(given: JobSpec): ReturnType<typeof checkPipelines> & { grid: Grid } {
  try {
    const checked = checkPipelines(given);
    const grid = jobGrid(given);
    for (const pipeline of checked.pipelines) checkGrid(grid, pipeline);
    checkBinsOfAll(grid, checked.pipelines);
    return { ...checked, grid };
  } catch (error) {
    throw error instanceof ParameterError ? refusalOf(error, 'grid') : error;
  }
}

/** Throws ParameterError if an image has more bins, of all pipelines together, than one message carries. */
function checkBinsOfAll(grid: Grid, pipelines: readonly Pipeline[]): void {
  const binsOfCells = pipelines.reduce((sum, { bins, output }) => sum + bins * output.channels.length, 0);
  if (grid.rows * grid.columns * binsOfCells <= maxImageBins) return;
  const cells = `at most ${Math.floor(maxImageBins / binsOfCells)} cells (of ${binsOfCells} bins each, of all pipelines)`;
  throw new ParameterError('the grid', `${grid.rows}x${grid.columns}`, cells);
}

/** Throws Refusal for a map format that does not exist, or that cannot hold the output of the pipeline. */
export function checkMapFormat(format: string, { output, bins }: Pick<Pipeline, 'output' | 'bins'>): void {
  if (!mapFormats.includes(format)) refuseValue('map_format', format, mapFormats);
  const why = whyNotHeld(format, mapType(output), bins);
  if (why) refuseValue('map_format', format, `tiff, zarr or none, because ${why},`);
}

/** Throws Refusal for a limit that has neither a number of inputs nor a percentage from 0 to 100. */
export function checkMaxQuarantined(max: MaxQuarantined | undefined): void {
  if (!max) return;
  const { limit } = max;
  if (!limit) {
    const either = sentence`${named('max_quarantined.inputs')} or ${named('max_quarantined.percent')}`;
    throw new Refusal('invalid', sentence`Expected ${either} but received neither`, 'max_quarantined');
  }
  const { $case, value } = limit;
  if ($case === 'percent' && !(value >= 0 && value <= 100)) refuseValue('max_quarantined.percent', value, '0 to 100');
}

/** Checks the capture options of a specification; undefined if it has none. Throws Refusal. */
function checkCaptured({ captured, checksum }: Pick<JobSpec, 'captured' | 'checksum'>): JobSpec['captured'] {
  if (!captured || (captured.from === '' && captured.zone === '')) return undefined;
  try {
    checkCaptureOptions(captured, checksum === true);
  } catch (error) {
    throw error instanceof CaptureOptionsError ? new Refusal('invalid', error.sentence) : error;
  }
  return { from: captured.from, zone: captured.zone };
}

/** The checked filter of a specification; undefined if it has none. Throws Refusal. */
function checkedFilter({ filter }: Pick<JobSpec, 'filter'>): JobSpec['filter'] {
  if (!filter || filter.include.length + filter.exclude.length === 0) return undefined;
  try {
    checkFilter(filter);
  } catch (error) {
    throw error instanceof FilterError ? new Refusal('invalid', error.sentence) : error;
  }
  return { include: filter.include, exclude: filter.exclude };
}

/** The column of Parquet files that has images; undefined if the specification names none. Throws Refusal. */
function checkedColumn({ column }: Pick<JobSpec, 'column'>): string | undefined {
  if (!column) return undefined;
  checkLength(column, 'column');
  return isColumn(column) ? column : refuseValue('column', column, allowedColumns);
}

/** One form of the sample that stands for no value; undefined if the specification has none. Throws Refusal. */
function checkedNoData({ nodata }: Pick<JobSpec, 'nodata'>): string | undefined {
  if (!nodata) return undefined;
  return canonicalNoData(nodata) ?? refuseValue('nodata', nodata, allowedNoData);
}

/** Throws Refusal for masks that are not on a disk, are missing, or may not be read. */
async function checkMask({ mask }: Pick<JobSpec, 'mask'>): Promise<void> {
  if (!mask) return;
  checkLength(mask, 'mask');
  const allowed = 'a folder or a file on a disk, as an absolute path or a file: URI,';
  if (!mask.startsWith('file:') || !URL.canParse(mask)) refuseValue('mask', mask, allowed);
  try {
    await stat(await allowedPath(fileURLToPath(mask)));
  } catch (error) {
    if (error instanceof SourceForbiddenError) {
      throw new Refusal('forbidden', sentence`The masks are not allowed here: ${error.message} (${named('mask')})`);
    }
    throw new Refusal('missing', sentence`There are no masks at '${mask}' (${named('mask')})`);
  }
}

/** One form of the level of pyramids; undefined for the largest. Throws Refusal. */
function checkedLevel({ level }: Pick<JobSpec, 'level'>): string | undefined {
  if (!level) return undefined;
  return canonicalLevel(level) ?? refuseValue('level', level, allowedLevels);
}

/** Throws Refusal for a share that does not exist. */
function checkShare({ share }: Pick<JobSpec, 'share'>): JobSpec['share'] {
  if (!share) return undefined;
  const { number, of, plan, splitImages } = share;
  if (of < 1 || of > maxShares) refuseValue('share.of', of, `1 to ${maxShares}`);
  if (number < 1 || number > of) refuseValue('share.number', number, `1 to ${of}`);
  checkLength(plan, 'share.plan');
  return { number, of, plan, splitImages };
}

function checkLength(uri: string, field: string): void {
  if (uri.length <= maxUriLength) return;
  refuseValue(sentence`the length of ${named(field)}`, uri.length, `at most ${maxUriLength} characters`);
}

async function checkOut(uri: string): Promise<void> {
  try {
    if (isBucketUri(uri)) checkAllowedPrefix(toPrefixUri(uri));
    else await allowedPath(fileURLToPath(uri));
  } catch (error) {
    if (error instanceof SourceForbiddenError) {
      throw new Refusal('forbidden', sentence`The output is not allowed here: ${error.message} (${named('out')})`);
    }
    refuseValue('out', uri, 'an absolute path, or a URI of file: or s3:');
  }
}
