import type { Rect, Size } from '@halogrid/geometry';
import type { ItemResult } from '@halogrid/kernels';
import { Cause, type FoundResult, type SourceError } from '@halogrid/proto';
import { InputError } from '@halogrid/sources';
import type { CaptureTime } from '@halogrid/sources/capture-time';
import { causes } from './causes.ts';
import { deeperReason } from './source-version.ts';
import type { LeasedSource } from './unpack-lease.ts';

/** `results`: one a pipeline. `mended`: a sentence that says what was removed from its file. */
export type SourceOutcome =
  | { kind: 'result'; results: FoundResult[]; mended?: string }
  | { kind: 'error'; error: SourceError };

/** A rectangle of a source whose pixels were read: a tile, or the whole of a frame. */
export interface ReadTile {
  source: LeasedSource;
  /** The whole image's. */
  size: Size;
  rect: Rect;
  captured?: CaptureTime | undefined;
  /** A sentence that says what was removed from its file. */
  mended?: string | undefined;
}

/** What was found of a tile: `items` has what each pipeline did. The first one alone says when it was captured. */
export function sourceOutcome(
  { source, size: { width, height }, rect, captured, mended }: ReadTile,
  items: readonly ItemResult[],
): SourceOutcome {
  const results = items.map(({ counted, bins }, i): FoundResult => {
    const result = { source: source.index, width, height, rect, counted, bins };
    if (i > 0) return { ...result, pipeline: i };
    return captured ? { ...result, captured } : result;
  });
  return { kind: 'result', results, ...(mended !== undefined && { mended }) };
}

/** The outcome of a source that could not be processed. Rejects with every other `error`: the shard is tried again. */
export async function failedOutcome(source: LeasedSource, error: unknown): Promise<SourceOutcome> {
  return (await failedOutcomes([source], error))[0]!;
}

/** The same for sources that are all in one file. */
export async function failedOutcomes(sources: readonly LeasedSource[], error: unknown): Promise<SourceOutcome[]> {
  if (!(error instanceof InputError)) throw error;
  const { stage, message, fault } = error.fault === 'content' ? await deeperReason(sources[0]!, error) : error;
  return sources.map((source) => sourceError(source, stage, message, causes[fault]));
}

export function sourceError(
  source: LeasedSource,
  stage: string,
  error: string,
  cause: Cause = Cause.CONTENT,
): SourceOutcome {
  return { kind: 'error', error: { source: source.index, stage, error, cause } };
}
