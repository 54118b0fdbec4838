import { createHash, type Hash, hash } from 'node:crypto';
import type { SourceDigest } from './source-digest.ts';

/** Changes with the rules below, so that digests by different rules are never equal by accident. */
const versionLine = 'halogrid digest 1\n';

/**
 * Digest of a job with several pipelines: SHA-256 over the line `halogrid digests 1`, then a line for each pipeline in
 * order: its name, a space, and the digest of a job with this pipeline alone. Each line ends with a line feed.
 */
export function digestOfAll(parts: readonly { name: string; digest: string }[]): string {
  const lines = parts.map(({ name, digest }) => `${name} ${digest}\n`);
  return hash('sha256', `halogrid digests 1\n${lines.join('')}`);
}

/**
 * Digest of a job: SHA-256 over the line `halogrid digest 1`, the line that jobLine gives (each with its line feed),
 * then the 32-byte digests of its sources in the order of results. URIs, the cut into shards, the order of arrival and
 * the machines do not enter. `add` also takes several digests end to end.
 */
export class JobDigest {
  readonly #sha: Hash;

  constructor(line: string) {
    this.#sha = createHash('sha256').update(`${versionLine}${line}\n`);
  }

  add(digest: Uint8Array): void {
    this.#sha.update(digest);
  }

  /** The digest as hexadecimal text. To be called once. */
  end(): string {
    return this.#sha.digest('hex');
  }
}

export function jobDigest(line: string, sources: Iterable<SourceDigest>): string {
  const digest = new JobDigest(line);
  for (const source of sources) digest.add(source);
  return digest.end();
}
