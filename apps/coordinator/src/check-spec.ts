import { access } from 'node:fs/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { listSources, SourceNotFoundError } from '@halogrid/imaging';
import { createPipeline, ParameterError, type Pipeline } from '@halogrid/kernels';
import type { JobSpec } from '@halogrid/proto';
import { Refusal } from './refusal.ts';

const mapFormats = ['none', 'tiff', 'png'];
/** One tile of this side is a gigabyte. */
const maxTilePx = 32_768;
/** A lease names every frame, and is one message: 4096 URIs of a kilobyte are half of what one may hold. */
const maxBatchFrames = 4096;

/**
 * Checks a specification, all of it: the same with everything in canonical form, and its pipeline. Throws Refusal:
 * 'invalid' for a wrong option, 'missing' for a source that does not exist.
 */
export async function checkSpec(given: JobSpec | undefined): Promise<{ spec: JobSpec; pipeline: Pipeline }> {
  if (!given) throw new Refusal('invalid', 'Expected a specification of the job but received none');
  const { sources, out, mapFormat, tilePx, batchFrames } = given;
  const pipeline = checkPipeline(given);
  if (sources.length === 0) throw new Refusal('invalid', 'Expected at least one source but received none');
  const paths = sources.map((uri) => filePath('a source', uri));
  filePath('out', out);
  if (!mapFormats.includes(mapFormat)) refuse('map_format', mapFormat, `one of ${mapFormats.join(', ')}`);
  if (tilePx > maxTilePx) refuse('tile_px', tilePx, `0 to ${maxTilePx}`);
  if (batchFrames > maxBatchFrames) refuse('batch_frames', batchFrames, `0 to ${maxBatchFrames}`);
  for (const path of paths) await checkExists(path);

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

function filePath(what: string, uri: string): string {
  try {
    return fileURLToPath(uri);
  } catch {
    return refuse(what, uri, 'an absolute file: URI');
  }
}

async function checkExists(path: string): Promise<void> {
  try {
    await access(path);
  } catch (error) {
    // One that is there and may not be read is the planner's to set aside.
    const { code } = error as NodeJS.ErrnoException;
    const isMissing = code === 'ENOENT' || code === 'ENOTDIR';
    if (isMissing && !(await matchesAny(path))) throw new Refusal('missing', `There is no source '${path}'`);
  }
}

/** Whether a path that does not exist is a glob that some file matches. */
async function matchesAny(path: string): Promise<boolean> {
  try {
    for await (const _ of listSources(pathToFileURL(path).href)) return true;
  } catch (error) {
    if (!(error instanceof SourceNotFoundError)) throw error;
  }
  return false;
}

function refuse(what: string, value: unknown, allowed: string): never {
  throw new Refusal('invalid', `Expected ${allowed} for ${what} but received '${value}'`);
}
