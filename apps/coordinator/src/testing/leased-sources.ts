import type { Lease, Source } from '@halogrid/proto';
import { SourceBlock } from '@halogrid/sources/source-block';

/** The sources of a lease, as a node reads them. */
export function leasedSources({ work }: Pick<Lease, 'work'>): Source[] {
  if (work?.$case !== 'frames') return work?.value.source ? [work.value.source] : [];
  const { block, sources } = work.value;
  return block ? Array.from(new SourceBlock(block), (source) => ({ ...source, place: source.place })) : sources;
}
