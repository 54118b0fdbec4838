import { readSources } from '@halogrid/jobs/planned-sources';
import type { Shard } from '@halogrid/jobs/shard';

/** A file that a node can be asked for. */
export interface Sample {
  uri: string;
  /** Whether the node must read it to its end. */
  isWhole: boolean;
}

/**
 * How many listed files of a root are kept; and how many files that nodes failed to read, for which nodes are asked
 * until they can read them.
 */
const maxListed = 3;
const maxFailed = 3;

/** Some of the files that jobs have listed, by the root that they are below. */
export class SampleFiles {
  readonly #listed = new Map<string, string[]>();
  readonly #failed = new Map<string, string[]>();
  /** Roots below which a file was seen when it was listed. */
  readonly #seen = new Set<string>();

  /** Takes sources of the shard as samples of roots that have too few. */
  note({ needs = [], work }: Shard): void {
    for (const need of needs) {
      if (!need.startsWith('read ')) continue;
      const known = this.#listed.get(need);
      if (known && known.length >= maxListed) continue;
      const sources = [...readSources(work.sources)].filter(({ uri }) => isBelow(uri, need));
      if (sources.some(({ pin }) => pin !== undefined)) this.#seen.add(need);
      const uris = sources.map(({ uri }) => uri);
      this.#listed.set(need, [...new Set([...(known ?? []), ...uris])].slice(0, maxListed));
    }
  }

  /** Whether the coordinator that listed files below the root saw them there. */
  wasListed(need: string): boolean {
    return this.#seen.has(need);
  }

  /** A node could not read this file: from now on, nodes show by reading it that they meet the need. */
  failed(need: string, uri: string): void {
    const known = this.#failed.get(need) ?? [];
    this.#failed.set(need, [uri, ...known.filter((other) => other !== uri)].slice(0, maxFailed));
  }

  /** Files of the root, as listed. */
  listedOf(need: string): readonly string[] {
    return this.#listed.get(need) ?? [];
  }

  of(need: string): Sample[] {
    const failed = this.#failed.get(need) ?? [];
    const listed = this.listedOf(need).filter((uri) => !failed.includes(uri));
    return [...failed.map((uri) => ({ uri, isWhole: true })), ...listed.map((uri) => ({ uri, isWhole: false }))];
  }

  /** No job has the need any more. */
  forget(need: string): void {
    this.#listed.delete(need);
    this.#failed.delete(need);
    this.#seen.delete(need);
  }
}

const isBelow = (uri: string, need: string): boolean => {
  const root = /^read (.*)$/s.exec(need)?.[1];
  return root !== undefined && uri.startsWith(`${root}/`);
};
