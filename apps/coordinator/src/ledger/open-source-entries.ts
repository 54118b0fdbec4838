import { blockBins } from '../log/open-bins.ts';
import { blockKey, encodeBlock, encodeOpenSource } from './job-record.ts';
import type { JobSums } from './job-sums.ts';
import { seal } from './record/sealed.ts';
import type { Change } from './store/ledger-store.ts';

/** What the store is to have of a source, some of whose tiles are still to come, or were before now. */
export function openChanges(
  jobId: string,
  part: number,
  { merge, keptSources, keptBlocks }: JobSums,
  source: number,
): Change[] {
  const state = merge.state(source);
  const place = { jobId, kind: openKind(part), key: source };
  const placeOf = (block: number) => ({ jobId, kind: blockKind(part), key: blockKey(source, block) });
  const kept = keptBlocks.get(source) ?? new Set<number>();
  if (state.state !== 'open') {
    if (!keptSources.delete(source)) return [];
    keptBlocks.delete(source);
    return [place, ...[...kept].map(placeOf)].map((gone) => ({ ...gone, value: undefined }));
  }
  keptSources.add(source);
  const { bins } = state;
  const touched = bins?.takeTouched() ?? [];
  if (!bins || bins.sums.length <= blockBins) return [seal(place, encodeOpenSource(state, 0))];
  keptBlocks.set(source, kept);
  for (const block of touched) kept.add(block);
  const blocks = touched.map((block) => seal(placeOf(block), encodeBlock(bins.block(block))));
  return [seal(place, encodeOpenSource(state, kept.size)), ...blocks];
}

/** Kind of the entries of sources some of whose tiles a pipeline has. */
export const openKind = (part: number): string => (part === 0 ? 'open' : `open-${part}`);

/** Kind of the entries of blocks of their sums. */
export const blockKind = (part: number): string => (part === 0 ? 'bins' : `bins-${part}`);
