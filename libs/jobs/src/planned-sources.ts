import { type BlockSource, SourceBlock } from '@halogrid/sources/source-block';
import { SourceRuns } from './source-runs.ts';

/**
 * Sources of a plan, which are a block of bytes from the thread that lists them to the node that reads them, and what
 * others decide by without reading it.
 */
export interface PlannedSources {
  /** Runs of their numbers, as SourceRuns has them. */
  readonly runs: Float64Array;
  readonly count: number;
  /** See libs/sources/src/blocks/source-block.ts. */
  readonly block: Uint8Array;
  /** URI of the first. */
  readonly uri: string;
  /** The folders that they are in. */
  readonly folders: readonly string[];
  /** Whether a preview may be made of one. */
  readonly hasPreviews: boolean;
  /** Whether one result each makes all of them: none is cut into tiles or set aside. */
  readonly isPlain: boolean;
}

export const firstOf = ({ runs }: Pick<PlannedSources, 'runs'>): number => runs[0]!;

/** Each of them, one after another. */
export const readSources = ({ block }: Pick<PlannedSources, 'block'>): Iterable<BlockSource> => new SourceBlock(block);

/** Numbers of the sources that a shard is of. */
export const indexesOf = ({ sources }: { sources: Pick<PlannedSources, 'runs'> }): number[] =>
  Array.from(new SourceRuns(sources.runs).numbers());

/** Whether counts of an earlier output go along with all of the sources: then only added pipelines compute these. */
export function areAllKnown({ block }: Pick<PlannedSources, 'block'>): boolean {
  const sources = new SourceBlock(block);
  for (let nth = 0; nth < sources.length; nth++) if (sources.known(nth) === undefined) return false;
  return sources.length > 0;
}
