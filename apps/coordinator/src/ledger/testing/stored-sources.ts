import { plannedSources, type ToldSource } from '../../testing/planned.ts';
import { StoredSources } from '../stored-sources.ts';

/** Sources as a ledger has them, without a file. */
export function storedSources(told: readonly ToldSource[]): StoredSources {
  const sources = plannedSources(told);
  const block = new Uint8Array(sources.block);
  return new StoredSources(sources, { offset: 0, length: block.length }, { path: 'memory', read: () => block });
}
