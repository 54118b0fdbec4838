import { isOwnPath } from '@halogrid/results/output-entries';
import type { StoredOutput } from '@halogrid/results/stored-output';
import type { Fate, GarbageChoice } from './judge-output.ts';

/** An upload to a bucket that was neither completed nor aborted. */
export interface BegunUpload {
  /** The object that it would make. */
  uri: string;
  id: string;
  begunMs: number;
}

/** Uploads below an output that no job of it will complete any more. */
export interface StrayUploads {
  /** Where the output is; undefined for uploads that are of no output of halogrid. */
  path: string | undefined;
  fate: Fate;
  uploads: readonly BegunUpload[];
}

/**
 * What becomes of uploads that were listed before the outputs were looked at. Uploads below an output that has ended
 * serve nobody, because each job begins uploads of its own. Uploads of an unfinished output, or of a removed one, are
 * not strays. Other programs may have begun an upload below no output: it stays.
 */
export function judgeUploads(
  begun: readonly BegunUpload[],
  outputs: readonly Pick<StoredOutput, 'path' | 'isUnfinished' | 'state'>[],
  { nowMs, olderThanMs = 0, unfinished = false }: GarbageChoice,
): StrayUploads[] {
  const owners = Map.groupBy(begun, ({ uri }) => outputs.find(({ path }) => isIn(path, uri)));
  return [...owners].flatMap(([output, uploads]): StrayUploads[] => {
    if (!output) return [{ path: undefined, fate: 'keep', uploads }];
    const { path, isUnfinished, state } = output;
    if (isUnfinished || state === 'removed') return [];
    const { remove = [], keep = [] } = Object.groupBy(
      uploads,
      ({ begunMs }): Fate => (unfinished && nowMs - begunMs >= olderThanMs ? 'remove' : 'keep'),
    );
    return [
      { path, fate: 'remove' as const, uploads: remove },
      { path, fate: 'keep' as const, uploads: keep },
    ].filter(({ uploads }) => uploads.length > 0);
  });
}

const isIn = (path: string, uri: string): boolean =>
  uri.startsWith(`${path}/`) && isOwnPath(uri.slice(path.length + 1));
