import { basename } from 'node:path';
import type { PassedOver } from '@halogrid/sources';

/** Kinds that a sentence names; the rest appear as `others`. */
const mostKinds = 10;
/** The most kinds that are counted separately: every file may have its own extension. */
const mostCounted = 1000;

/** What a person would call the extension of a name. */
const extension = /[^.](\.[\p{L}\p{N}_~-]{1,16})$/u;

/** Counts the files and folders below the folders of a job that are not inputs, and describes them in sentences. */
export class PassedOverCount {
  readonly #files = new Map<string, number>();
  readonly #folders = new Map<string, number>();

  readonly add = ({ path, isFolder }: PassedOver): void => {
    const name = basename(path);
    const [counts, kind] = isFolder ? [this.#folders, name] : [this.#files, extensionOf(name)];
    const known = name.startsWith('.') ? 'hidden' : kind;
    const counted = counts.has(known) || counts.size < mostCounted ? known : others;
    counts.set(counted, (counts.get(counted) ?? 0) + 1);
  };

  /** A sentence about the files and a sentence about the folders, if there are any. */
  sentences(): string[] {
    return [...describe(this.#files, 'file'), ...describe(this.#folders, 'folder')];
  }
}

const others = 'others';

const extensionOf = (name: string): string => extension.exec(name)?.[1]?.toLowerCase() ?? 'without an extension';

function describe(counts: ReadonlyMap<string, number>, what: string): string[] {
  if (counts.size === 0) return [];
  const sorted = [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
  const total = sorted.reduce((sum, [, count]) => sum + count, 0);
  const told = sorted.filter(([kind]) => kind !== others).slice(0, mostKinds);
  const rest = total - told.reduce((sum, [, count]) => sum + count, 0);
  const kinds = [...told, ...(rest > 0 ? [[others, rest] as const] : [])].map(([kind, count]) => `${count} ${kind}`);
  return [`${total} ${what}${total === 1 ? '' : 's'} left out: ${kinds.join(', ')}`];
}
