import { createHash, type Hash, hash } from 'node:crypto';
import type { SourceDigest } from './source-digest.ts';

/** Changes when the rules below do, so that digests of different rules never look equal by accident. */
const versionLine = 'halogrid digest 1\n';

/**
 * Digest of a job of several pipelines: SHA-256 over the line `halogrid digests 1`, then a line for each pipeline in order, with its
 * name, a space and the digest that a job of its own has, each with its line feed.
 */
export function digestOfAll(parts: readonly { name: string; digest: string }[]): string {
  const lines = parts.map(({ name, digest }) => `${name} ${digest}\n`);
  return hash('sha256', `halogrid digests 1\n${lines.join('')}`);
}

/**
 * Digest of a job: SHA-256 over the line `halogrid digest 1`, the line that jobLine gives (each with its line feed),
 * then the 32-byte digests of its sources in the order of results. URIs, the cut into shards, the order of arrival and
 * the machines do not enter. Several digests may come as one, end to end.
 */
export class JobDigest {
  readonly #sha: Hash;

  constructor(line: string) {
    this.#sha = createHash('sha256').update(`${versionLine}${line}\n`);
  }

  add(digest: Uint8Array): void {
    this.#sha.update(digest);
  }

  /** To be called once. */
  end(): string {
    return this.#sha.digest('hex');
  }
}

export function jobDigest(line: string, sources: Iterable<SourceDigest>): string {
  const digest = new JobDigest(line);
  for (const source of sources) digest.add(source);
  return digest.end();
}
