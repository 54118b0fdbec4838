import { SourceForbiddenError, sourceAccess } from './source-access.ts';

/**
 * Throws SourceForbiddenError for a prefix of a bucket that jobs may not write: if there are data roots, it must lie in
 * one. `uri` is as toPrefixUri gives it. Objects may be read wherever the credentials allow.
 */
export function checkAllowedPrefix(uri: string): void {
  const { roots, prefixes = [] } = sourceAccess();
  if (!roots || prefixes.some((prefix) => uri === prefix || uri.startsWith(`${prefix}/`))) return;
  throw new SourceForbiddenError('The bucket or prefix lies outside of the data roots (--data-root)');
}
