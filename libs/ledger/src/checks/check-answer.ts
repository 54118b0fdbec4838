import { indexesOf } from '@halogrid/jobs/planned-sources';
import type { ShardWork, SourceError } from '@halogrid/jobs/shard';
import type { MendedKind } from '@halogrid/proto';

/** A node's results that cannot be right. They are not merged. */
export class InvalidResultError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'InvalidResultError';
  }
}

/** Checks that each error names a source of the work, and that no two name the same. Throws InvalidResultError. */
export function checkErrors(work: ShardWork, errors: readonly SourceError[]): void {
  const asked = new Set(errors.length > 0 ? indexesOf(work) : []);
  for (const { source } of errors) if (!asked.delete(source)) refuse(source, 'was not asked for, or is answered twice');
}

/**
 * Checks the mended files of an answer: they must be sources of the work, and not more than its sources without an
 * error. Throws InvalidResultError.
 */
export function checkMended(work: ShardWork, mended: readonly MendedKind[], errors: readonly SourceError[]): void {
  if (mended.length === 0) return;
  const good = new Set(indexesOf(work));
  for (const { source } of errors) good.delete(source);
  for (const { source, sources } of mended) {
    if (!good.has(source) || sources < 1) refuse(source, 'was not asked for, or has an error, and bytes left out');
  }
  const sum = mended.reduce((all, { sources }) => all + sources, 0);
  if (sum > good.size) throw new InvalidResultError(`There are ${sum} files with bytes left out of ${good.size}`);
}

/** Throws InvalidResultError. */
export function refuse(source: number, why: string): never {
  throw new InvalidResultError(`The result of source ${source} ${why}`);
}
