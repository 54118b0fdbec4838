import type { Lease } from '@halogrid/proto';
import { type BlockSource, SourceBlock } from '@halogrid/sources/source-block';

/** The sources of a lease, as a node reads them. */
export const leasedSources = ({ sources }: Pick<Lease, 'sources'>): BlockSource[] => [...new SourceBlock(sources)];
