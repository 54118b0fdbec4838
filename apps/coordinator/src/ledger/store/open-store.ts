import { UsageError } from '@halogrid/service/usage-error';
import type { LedgerStore } from './ledger-store.ts';
import { MemoryStore } from './memory-store.ts';
import { SqliteStore } from './sqlite-store.ts';

/**
 * Opens the ledger at `place`: a PostgreSQL database by its URL (postgres:// or postgresql://), or a file; 'memory', for
 * tests, is neither. Rejects with one sentence: UsageError where the URL is none. No sentence holds the password of a URL.
 */
export async function openStore(place: string): Promise<LedgerStore> {
  if (place === 'memory') return new MemoryStore();
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(place)?.[1];
  if (scheme === undefined) return SqliteStore.open(place);
  if (!/^postgres(ql)?$/.test(scheme) || !URL.canParse(place)) {
    throw new UsageError(
      `Expected FILE or postgres://USER@HOST:PORT/DATABASE for --ledger but received '${scheme}://…'`,
    );
  }
  const { PostgresStore } = await import('./postgres-store.ts');
  return PostgresStore.open(new URL(place));
}
