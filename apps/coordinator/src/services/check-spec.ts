import { fileURLToPath } from 'node:url';
import { listSources, SourceNotFoundError } from '@halogrid/imaging';
import { createPipeline, ParameterError, type Pipeline } from '@halogrid/kernels';
import { type JobSpec, mapFormats, maxBatchFrames, maxTilePx } from '@halogrid/proto';
import { Refusal } from './refusal.ts';

/**
 * Checks a specification, all of it: the same with everything in canonical form, and its pipeline. Throws Refusal:
 * 'invalid' for a wrong option, 'missing' for a source that leads to no input.
 */
export async function checkSpec(given: JobSpec | undefined): Promise<{ spec: JobSpec; pipeline: Pipeline }> {
  if (!given) throw new Refusal('invalid', 'Expected a specification of the job but received none');
  const { sources, out, mapFormat, tilePx, batchFrames } = given;
  const pipeline = checkPipeline(given);
  if (sources.length === 0) throw new Refusal('invalid', 'Expected at least one source but received none');
  for (const uri of sources) checkFileUri('a source', uri);
  checkFileUri('out', out);
  if (!mapFormats.includes(mapFormat)) refuse('map_format', mapFormat, `one of ${mapFormats.join(', ')}`);
  if (tilePx > maxTilePx) refuse('tile_px', tilePx, `0 to ${maxTilePx}`);
  if (batchFrames > maxBatchFrames) refuse('batch_frames', batchFrames, `0 to ${maxBatchFrames}`);
  for (const uri of sources) await checkHasInput(uri);

  const operations = pipeline.operations.map(({ kernel, parameters }) => ({ kernel, parameters: { ...parameters } }));
  const spec = { sources, pipeline: { operations, border: pipeline.border }, out, mapFormat, tilePx, batchFrames };
  return { spec, pipeline };
}

function checkPipeline({ pipeline }: JobSpec): Pipeline {
  try {
    return createPipeline(pipeline?.operations ?? [], pipeline?.border ?? '');
  } catch (error) {
    throw error instanceof ParameterError ? new Refusal('invalid', error.message) : error;
  }
}

function checkFileUri(what: string, uri: string): void {
  try {
    fileURLToPath(uri);
  } catch {
    refuse(what, uri, 'an absolute file: URI');
  }
}

/** Whether the input can be read is for the planner and the nodes to find out: they set it aside. */
async function checkHasInput(uri: string): Promise<void> {
  try {
    for await (const _ of listSources(uri)) return;
  } catch (error) {
    throw error instanceof SourceNotFoundError ? new Refusal('missing', error.message) : error;
  }
}

function refuse(what: string, value: unknown, allowed: string): never {
  throw new Refusal('invalid', `Expected ${allowed} for ${what} but received '${value}'`);
}
