import { UsageError } from '@halogrid/service/usage-error';
import { MemoryRegistry } from './memory-registry.ts';
import type { Registry } from './registry.ts';
import { SqliteRegistry } from './sqlite-registry.ts';

/**
 * Opens the registry at `place`: a PostgreSQL database by its URL (postgres:// or postgresql://), or a file; 'memory',
 * for tests, is neither. Rejects with one sentence: UsageError for an invalid URL. No sentence holds the password of a
 * URL.
 */
export async function openRegistry(place: string): Promise<Registry> {
  if (place === 'memory') return new MemoryRegistry();
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(place)?.[1];
  if (scheme === undefined) return SqliteRegistry.open(place);
  if (!/^postgres(ql)?$/.test(scheme) || !URL.canParse(place)) {
    throw new UsageError(
      `Expected FILE or postgres://USER@HOST:PORT/DATABASE for --ledger but received '${scheme}://…'`,
    );
  }
  const { PostgresRegistry } = await import('./postgres-registry.ts');
  return PostgresRegistry.open(new URL(place));
}
