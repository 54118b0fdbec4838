import { type BlockSource, SourceBlock } from '@halogrid/sources/source-block';
import { SourceRuns } from './source-runs.ts';

/**
 * Sources of a plan. They stay one encoded block from the thread that lists them to the node that reads them. The other
 * fields are for those who do not decode the block.
 */
export interface PlannedSources {
  /** The numbers of the sources, as SourceRuns.runs. */
  readonly runs: Float64Array;
  readonly count: number;
  /** The encoded sources: see libs/sources/src/blocks/source-block.ts. */
  readonly block: Uint8Array;
  /** URI of the first source. */
  readonly uri: string;
  /** URIs of the folders that hold the sources, without a slash at the end. */
  readonly folders: readonly string[];
  /** Whether any of the sources may get a preview. */
  readonly hasPreviews: boolean;
  /** Whether each source has exactly one result: none is cut into tiles or set aside. */
  readonly isPlain: boolean;
}

export const firstOf = ({ runs }: Pick<PlannedSources, 'runs'>): number => runs[0]!;

/** Decodes the sources one by one, in order. */
export const readSources = ({ block }: Pick<PlannedSources, 'block'>): Iterable<BlockSource> => new SourceBlock(block);

/** Numbers of a shard's sources. */
export const indexesOf = ({ sources }: { sources: Pick<PlannedSources, 'runs'> }): number[] =>
  Array.from(new SourceRuns(sources.runs).numbers());

/** Whether every source brings counts from an earlier output. Then only the added pipelines compute them. */
export function areAllKnown({ block }: Pick<PlannedSources, 'block'>): boolean {
  const sources = new SourceBlock(block);
  for (let nth = 0; nth < sources.length; nth++) if (sources.known(nth) === undefined) return false;
  return sources.length > 0;
}
