import { basename } from 'node:path';
import type { JobSpec } from '@halogrid/proto';
import type { PassedOver } from '@halogrid/sources';

/** Kinds that a sentence names; the rest appear as `others`. */
const mostKinds = 20;
/** The most kinds that are counted separately: every file may have its own extension. */
const mostCounted = 1000;

/** What a person would call the extension of a name. */
const extension = /[^.](\.[\p{L}\p{N}_~-]{1,16})$/u;

/** Numbers by kind. */
type Counts = Map<string, number>;

/**
 * Counts the files and folders below the folders of a job that are not inputs, and what its filter leaves out, and
 * describes them in sentences.
 */
export class PassedOverCount {
  readonly #files: Counts = new Map();
  readonly #folders: Counts = new Map();
  readonly #filteredFiles: Counts = new Map();
  readonly #filteredFolders: Counts = new Map();
  readonly #filter: JobSpec['filter'];

  constructor(filter?: JobSpec['filter']) {
    this.#filter = filter;
  }

  readonly add = ({ path, isFolder, isFiltered }: PassedOver): void => {
    const name = basename(path);
    const [files, folders] = isFiltered ? [this.#filteredFiles, this.#filteredFolders] : [this.#files, this.#folders];
    const [counts, kind] = isFolder ? [folders, name] : [files, extensionOf(name)];
    const known = name.startsWith('.') ? 'hidden' : kind;
    const counted = counts.has(known) || counts.size < mostCounted ? known : others;
    counts.set(counted, (counts.get(counted) ?? 0) + 1);
  };

  /** A sentence about the files and a sentence about the folders, if there are any; with a filter also what it does. */
  sentences(): string[] {
    const passedOver = [...describe(this.#files, 'file'), ...describe(this.#folders, 'folder')];
    if (!this.#filter) return passedOver;
    const by = nameOf(this.#filter);
    const filtered = [
      ...describe(this.#filteredFiles, 'file', ` by ${by}`),
      ...describe(this.#filteredFolders, 'folder', ` by ${by}`),
    ];
    return [...passedOver, ...(filtered.length > 0 ? filtered : [`Nothing left out by ${by}`])];
  }
}

const nameOf = ({ include, exclude }: NonNullable<JobSpec['filter']>): string =>
  [...(include.length > 0 ? ['include'] : []), ...(exclude.length > 0 ? ['exclude'] : [])].join(' and ');

const others = 'others';

const extensionOf = (name: string): string => extension.exec(name)?.[1]?.toLowerCase() ?? 'without an extension';

function describe(counts: ReadonlyMap<string, number>, what: string, by = ''): string[] {
  if (counts.size === 0) return [];
  const sorted = [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
  const total = sorted.reduce((sum, [, count]) => sum + count, 0);
  const told = sorted.filter(([kind]) => kind !== others).slice(0, mostKinds);
  const rest = total - told.reduce((sum, [, count]) => sum + count, 0);
  const kinds = [...told, ...(rest > 0 ? [[others, rest] as const] : [])].map(([kind, count]) => `${count} ${kind}`);
  return [`${total} ${what}${total === 1 ? '' : 's'} left out${by}: ${kinds.join(', ')}`];
}
