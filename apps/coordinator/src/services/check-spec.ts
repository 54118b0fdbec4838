import { fileURLToPath } from 'node:url';
import { checkHasSource, checkSourceUri, SourceNotFoundError, SourceUriError } from '@halogrid/imaging';
import { checkGrid, createPipeline, type Grid, ParameterError, type Pipeline } from '@halogrid/kernels';
import { type JobSpec, maxBatchFrames, maxTilePx } from '@halogrid/proto';
import { jobGrid } from '../job-grid.ts';
import { checkMapFormat } from './check-map-format.ts';
import { checkVideo } from './check-video.ts';
import { Refusal, refuseValue } from './refusal.ts';

/**
 * Checks a specification, all of it: the same with everything in canonical form, and its pipeline. Throws Refusal:
 * 'invalid' for a wrong option, 'missing' for a source that leads to no input.
 */
export async function checkSpec(given: JobSpec | undefined): Promise<{ spec: JobSpec; pipeline: Pipeline }> {
  if (!given) throw new Refusal('invalid', 'Expected a specification of the job but received none');
  const { sources, out, mapFormat, tilePx, batchFrames, video } = given;
  const { pipeline, grid } = checkWork(given);
  if (sources.length === 0) throw new Refusal('invalid', 'Expected at least one source but received none');
  for (const uri of sources) checkSource(uri);
  checkOut(out);
  checkMapFormat(mapFormat, pipeline);
  if (tilePx > maxTilePx) refuseValue('tile_px', tilePx, `0 to ${maxTilePx}`);
  if (batchFrames > maxBatchFrames) refuseValue('batch_frames', batchFrames, `0 to ${maxBatchFrames}`);
  checkVideo(given, pipeline);
  for (const uri of sources) await checkHasInput(uri);

  const operations = pipeline.operations.map((operation) => ({
    ...operation,
    parameters: { ...operation.parameters },
  }));
  const spec = { sources, pipeline: { operations }, out, mapFormat, tilePx, batchFrames, grid };
  return { spec: video ? { ...spec, video } : spec, pipeline };
}

function checkWork(given: JobSpec): { pipeline: Pipeline; grid: Grid } {
  try {
    const pipeline = createPipeline(given.pipeline?.operations ?? []);
    const grid = jobGrid(given);
    checkGrid(grid, pipeline);
    return { pipeline, grid };
  } catch (error) {
    throw error instanceof ParameterError ? new Refusal('invalid', error.message) : error;
  }
}

function checkSource(uri: string): void {
  try {
    checkSourceUri(uri);
  } catch (error) {
    throw error instanceof SourceUriError ? new Refusal('invalid', error.message) : error;
  }
}

function checkOut(uri: string): void {
  try {
    fileURLToPath(uri);
  } catch {
    refuseValue('out', uri, 'an absolute file: URI');
  }
}

/** Whether the input can be read is for the planner and the nodes to find out: they set it aside. */
async function checkHasInput(uri: string): Promise<void> {
  try {
    await checkHasSource(uri);
  } catch (error) {
    throw error instanceof SourceNotFoundError ? new Refusal('missing', error.message) : error;
  }
}
