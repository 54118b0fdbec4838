import { fileURLToPath } from 'node:url';
import {
  checkGrid,
  type Grid,
  hasExactHistogram,
  ParameterError,
  type Pipeline,
  specifiedOperations,
} from '@halogrid/kernels';
import type { JobSpec, MaxQuarantined } from '@halogrid/proto';
import {
  jobPriorities,
  mapFormats,
  maxBatchFrames,
  maxSources,
  maxTilePx,
  maxUriLength,
  whyNotVerified,
} from '@halogrid/proto/job-limits';
import { whyNotHeld } from '@halogrid/results';
import { allowedPath, SourceForbiddenError } from '@halogrid/sources';
import { jobGrid, jobPipeline } from './accepted-job.ts';
import { checkCaptured } from './check-captured.ts';
import { checkSources } from './check-sources.ts';
import { checkVideo } from './check-video.ts';
import { mapType } from './map-type.ts';
import { Refusal, refuseValue } from './refusal.ts';

/**
 * Checks a specification, all of it: the same with everything in canonical form, and its pipeline. Throws Refusal:
 * 'invalid' for a wrong option, 'missing' for a source that leads to no input, 'forbidden' for what this process may not read or write.
 *
 * `check` is checkSources, here or on another thread.
 */
export async function checkSpec(
  given: JobSpec | undefined,
  check: typeof checkSources = checkSources,
): Promise<{ spec: JobSpec; pipeline: Pipeline }> {
  if (!given) throw new Refusal('invalid', 'Expected a specification of the job but received none');
  const { sources, out, mapFormat, tilePx, batchFrames, video, priority = 0, verifyPercent = 0 } = given;
  const { pipeline, grid } = checkWork(given);
  if (sources.length === 0) throw new Refusal('invalid', 'Expected at least one source but received none');
  if (sources.length > maxSources) refuseValue('the number of sources', sources.length, `1 to ${maxSources}`);
  for (const uri of [...sources, out]) checkLength(uri);
  await checkOut(out);
  checkMapFormat(mapFormat, pipeline);
  if (tilePx > maxTilePx) refuseValue('tile_px', tilePx, `0 to ${maxTilePx}`);
  if (batchFrames > maxBatchFrames) refuseValue('batch_frames', batchFrames, `0 to ${maxBatchFrames}`);
  checkPriority(priority);
  checkVerify(verifyPercent, pipeline);
  checkMaxQuarantined(given.maxQuarantined);
  const captured = checkCaptured(given);
  await check(sources, checkVideo(given, pipeline));

  const operations = specifiedOperations(pipeline);
  const spec: JobSpec = { sources, pipeline: { operations }, out, mapFormat, tilePx, batchFrames, grid };
  // What is not asked for is left out, as it was before there was such a thing.
  spec.priority = priority || undefined;
  spec.verifyPercent = verifyPercent || undefined;
  spec.video = video;
  spec.checksum = given.checksum || undefined;
  spec.fresh = given.fresh || undefined;
  spec.maxQuarantined = given.maxQuarantined;
  spec.waitForNode = given.waitForNode || undefined;
  if (captured) spec.captured = captured;
  return { spec, pipeline };
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

function checkWork(given: JobSpec): { pipeline: Pipeline; grid: Grid } {
  try {
    const pipeline = jobPipeline(given);
    const grid = jobGrid(given);
    checkGrid(grid, pipeline);
    return { pipeline, grid };
  } catch (error) {
    throw error instanceof ParameterError ? new Refusal('invalid', error.message) : error;
  }
}

/** Throws Refusal for a format of dense results that there is not, or that cannot hold what the pipeline gives. */
export function checkMapFormat(format: string, { output, bins }: Pick<Pipeline, 'output' | 'bins'>): void {
  if (!mapFormats.includes(format)) refuseValue('map_format', format, `one of ${mapFormats.join(', ')}`);
  const why = whyNotHeld(format, mapType(output), bins);
  if (why) refuseValue('map_format', format, `tiff, zarr or none, because ${why},`);
}

/** Throws Refusal for a limit that is none. */
export function checkMaxQuarantined(max: MaxQuarantined | undefined): void {
  if (!max) return;
  const { limit } = max;
  if (!limit) throw new Refusal('invalid', 'Expected inputs or percent in max_quarantined but received neither');
  const { $case, value } = limit;
  if ($case === 'percent' && !(value >= 0 && value <= 100)) refuseValue('max_quarantined.percent', value, '0 to 100');
}

function checkLength(uri: string): void {
  if (uri.length > maxUriLength) refuseValue('the length of a URI', uri.length, `at most ${maxUriLength} characters`);
}

async function checkOut(uri: string): Promise<void> {
  try {
    await allowedPath(fileURLToPath(uri));
  } catch (error) {
    if (error instanceof SourceForbiddenError) {
      throw new Refusal('forbidden', `The output is not allowed here: ${error.message}`);
    }
    refuseValue('out', uri, 'an absolute file: URI');
  }
}
