import { createHash } from 'node:crypto';
import type { Catalog } from '../../store/catalog.ts';

/**
 * SHA-256, in hexadecimal digits, of what the manifest says of an index: its pipeline, and the names, lengths and
 * checksums of all its files and blocks. Indexes of one version have the same histograms in the same rows.
 */
export function indexVersion({ pipeline, segments }: Pick<Catalog, 'pipeline' | 'segments'>): string {
  const content = { pipeline, segments: segments.map(({ segment }) => segment) };
  return createHash('sha256').update(JSON.stringify(content)).digest('hex');
}
