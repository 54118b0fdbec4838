import { Cause, type SourceError } from '@halogrid/proto';
import { InputError } from '@halogrid/sources';
import { causes } from './causes.ts';
import { deeperReason } from './source-version.ts';
import type { LeasedSource } from './unpack-lease.ts';

/** Why a source could not be processed. Rejects with every other `error`: the shard is tried again. */
export async function errorOf(source: LeasedSource, error: unknown): Promise<SourceError> {
  return (await errorsOf([source], error))[0]!;
}

/** The same for sources that are all in one file. */
export async function errorsOf(sources: readonly LeasedSource[], error: unknown): Promise<SourceError[]> {
  if (!(error instanceof InputError)) throw error;
  const { stage, message, fault } = error.fault === 'content' ? await deeperReason(sources[0]!, error) : error;
  return sources.map((source) => sourceError(source, stage, message, causes[fault]));
}

export function sourceError(
  source: LeasedSource,
  stage: string,
  error: string,
  cause: Cause = Cause.CONTENT,
): SourceError {
  return { source: source.index, stage, error, cause };
}
