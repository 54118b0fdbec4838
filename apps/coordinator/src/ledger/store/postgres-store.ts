// The only file that knows pg.
import { Pool, type PoolClient } from 'pg';
import { ledgerFormat, OlderLedgerError } from './ledger-errors.ts';
import {
  type Change,
  type Entry,
  type EntryFilter,
  FencedError,
  type Leader,
  type LedgerStore,
} from './ledger-store.ts';
import { type NetChanges, netChanges } from './net-changes.ts';

/** Keeps two processes from making the schema at once. Any number that others are unlikely to use. */
const schemaLock = 0x48414c4f;

/** The first epoch is the time in microseconds: that of a schema which is made again is higher than any of the one before. */
const schema = `
  CREATE SCHEMA IF NOT EXISTS halogrid;
  CREATE TABLE halogrid.entries (
    job_id text COLLATE "C" NOT NULL, kind text COLLATE "C" NOT NULL, key bigint NOT NULL, value bytea NOT NULL,
    PRIMARY KEY (job_id, kind, key)
  );
  CREATE TABLE halogrid.leader (
    id integer PRIMARY KEY CHECK (id = 1), schema_version integer NOT NULL,
    epoch bigint NOT NULL, holder text, renewed_at timestamptz NOT NULL, lease_ms bigint NOT NULL
  );
  INSERT INTO halogrid.leader VALUES (
    1, ${ledgerFormat}, floor(1e6 * extract(epoch FROM clock_timestamp())), NULL, clock_timestamp(), 0
  );
`;

/** A lease longer than it was given can only be a clock that was set back: such a lease is over too. */
const isOver = '(holder IS NULL OR abs(extract(epoch FROM clock_timestamp() - renewed_at)) * 1000 >= lease_ms)';

/**
 * A transaction whose process is stopped or cut off must not hold the leader's row for long: a standby waits for it, on top
 * of the lease. These are set in each transaction, because a pooler between may give each another session.
 */
const begin = `
  BEGIN;
  SET LOCAL idle_in_transaction_session_timeout = 3000;
  SET LOCAL statement_timeout = 30000;
  SET LOCAL synchronous_commit = on;
`;

/** Longer than the server's own limit, so that this is for a server that cannot be reached. */
const answerWithinMs = 40_000;
const connectWithinMs = 5_000;

/** A page ends with the row that reaches either; a statement carries no more. */
const pageRows = 1000;
const pageBytes = 2 ** 20;
const batchBytes = 2 ** 24;

/** The ledger in a PostgreSQL database, in a schema of its own, for coordinators on several machines. */
export class PostgresStore implements LedgerStore {
  readonly #name: string;
  readonly #pool: Pool;
  /** Writes wait for those before them. */
  #lastWrite: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  /**
   * Connects to the database of a URL such as postgres://USER@HOST:PORT/DATABASE, and makes the schema where there is none.
   * Rejects with one sentence that names the database without the user and password.
   */
  static async open(url: URL): Promise<PostgresStore> {
    const store = new PostgresStore(url);
    try {
      await store.#transact((client) => prepareSchema(client, store.#name));
      return store;
    } catch (error) {
      await store.close();
      throw error;
    }
  }

  private constructor(url: URL) {
    const host = decodeURIComponent(url.hostname) || url.searchParams.get('host') || 'localhost';
    this.#name = `postgres://${host}${url.port && `:${url.port}`}${url.pathname}`;
    this.#pool = new Pool({
      connectionString: url.href,
      application_name: 'halogrid coordinator',
      // A write, a renewal that does not wait for it, and a page that is read.
      max: 3,
      connectionTimeoutMillis: connectWithinMs,
      query_timeout: answerWithinMs,
      keepAlive: true,
    });
    // A connection may break while nobody uses it, or between two statements; the statement that follows rejects.
    this.#pool.on('error', () => {});
    this.#pool.on('connect', (client) => void client.on('error', () => {}));
  }

  async acquire(holder: string, leaseMs: number): Promise<number | undefined> {
    const [row] = await this.#ask(
      `UPDATE halogrid.leader SET epoch = epoch + 1, holder = $1, renewed_at = clock_timestamp(), lease_ms = $2
       WHERE ${isOver} RETURNING epoch`,
      [holder, leaseMs],
    );
    return row && Number(row.epoch);
  }

  async renew(epoch: number, leaseMs: number): Promise<boolean> {
    const rows = await this.#ask(
      `UPDATE halogrid.leader SET renewed_at = clock_timestamp(), lease_ms = $2
       WHERE epoch = $1 AND holder IS NOT NULL RETURNING epoch`,
      [epoch, leaseMs],
    );
    return rows.length > 0;
  }

  async release(epoch: number): Promise<void> {
    await this.#ask('UPDATE halogrid.leader SET holder = NULL WHERE epoch = $1', [epoch]);
  }

  async leader(): Promise<Leader | undefined> {
    const [row] = await this.#ask(`SELECT holder, epoch FROM halogrid.leader WHERE NOT ${isOver}`);
    return row && { holder: row.holder as string, epoch: Number(row.epoch) };
  }

  async *entries(of: EntryFilter = {}): AsyncIterable<Entry> {
    let after: Entry | undefined;
    for (;;) {
      const page = await this.#page(of, after);
      if (page.length === 0) return;
      yield* page;
      after = page.at(-1)!;
    }
  }

  async write(epoch: number, changes: readonly Change[]): Promise<void> {
    const net = netChanges(changes);
    const written = this.#lastWrite.then(() =>
      this.#transact(async (client) => {
        // The lock makes a successor wait for the end of this transaction, and nobody else.
        const leads = await client.query(
          'SELECT 1 FROM halogrid.leader WHERE epoch = $1 AND holder IS NOT NULL FOR SHARE',
          [epoch],
        );
        if (leads.rows.length > 0) await apply(client, net);
        return leads.rows.length > 0;
      }),
    );
    this.#lastWrite = written.catch(() => {});
    if (!(await written)) throw new FencedError(epoch, await this.leader());
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#lastWrite;
    await this.#pool.end();
  }

  async #page({ jobId, kind }: EntryFilter, after: Entry | undefined): Promise<Entry[]> {
    const values: unknown[] = [after?.jobId ?? jobId ?? '', after?.kind ?? kind ?? '', after?.key ?? -1];
    const conditions = ['(job_id, kind, key) > ($1, $2, $3)'];
    if (jobId !== undefined) conditions.push(`job_id = $${values.push(jobId)}`);
    if (kind !== undefined) conditions.push(`kind = $${values.push(kind)}`);
    const rows = await this.#ask(
      `SELECT job_id, kind, key, value
       FROM (
         SELECT *, sum(octet_length(value)) OVER (ORDER BY job_id, kind, key) - octet_length(value) AS bytes_before
         FROM (
           SELECT * FROM halogrid.entries WHERE ${conditions.join(' AND ')} ORDER BY job_id, kind, key LIMIT ${pageRows}
         ) AS rows
       ) AS page
       WHERE bytes_before < ${pageBytes} ORDER BY job_id, kind, key`,
      values,
    );
    return rows.map((row) => ({
      jobId: row.job_id as string,
      kind: row.kind as string,
      key: Number(row.key),
      value: row.value as Uint8Array,
    }));
  }

  #ask(sql: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
    return this.#transact(async (client) => (await client.query(sql, values)).rows);
  }

  /** Does something in one transaction. Rejects with one sentence; a connection that broke is replaced by the next use. */
  async #transact<T>(act: (client: PoolClient) => Promise<T>): Promise<T> {
    let client: PoolClient | undefined;
    try {
      client = await this.#pool.connect();
      await client.query(begin);
      const result = await act(client);
      await client.query('COMMIT');
      client.release();
      return result;
    } catch (error) {
      // A connection with a failed transaction is not worth repairing.
      client?.release(true);
      if (error instanceof OlderLedgerError) throw error;
      const why = this.#isClosed ? 'it is closed' : describe(error);
      throw new Error(`The ledger at ${this.#name} cannot be used: ${why}`);
    }
  }
}

async function prepareSchema(client: PoolClient, name: string): Promise<void> {
  await client.query('SELECT pg_advisory_xact_lock($1)', [schemaLock]);
  const { rows } = await client.query("SELECT to_regclass('halogrid.leader') AS leader");
  if (rows[0].leader === null) await client.query(schema);
  const { schema_version: version } = (await client.query('SELECT schema_version FROM halogrid.leader')).rows[0];
  if (version > ledgerFormat) {
    throw new Error(`it is of format ${version} and this halogrid knows formats up to ${ledgerFormat}`);
  }
  if (version < ledgerFormat) throw new OlderLedgerError(`The ledger at ${name}`, version);
}

async function apply(client: PoolClient, { jobs, removed, put }: NetChanges): Promise<void> {
  if (jobs.length > 0) await client.query('DELETE FROM halogrid.entries WHERE job_id = ANY ($1)', [jobs]);
  if (removed.length > 0) {
    await client.query(
      `DELETE FROM halogrid.entries
       WHERE (job_id, kind, key) IN (SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[]))`,
      places(removed),
    );
  }
  for (const batch of batches(put)) {
    await client.query(
      `INSERT INTO halogrid.entries SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bytea[])
       ON CONFLICT (job_id, kind, key) DO UPDATE SET value = excluded.value`,
      [...places(batch), batch.map(({ value }) => value)],
    );
  }
}

const places = (of: Omit<Entry, 'value'>[]): unknown[] => [
  of.map(({ jobId }) => jobId),
  of.map(({ kind }) => kind),
  of.map(({ key }) => key),
];

/** A batch ends with the entry that makes it large enough. */
function* batches(entries: Entry[]): Generator<Entry[]> {
  let batch: Entry[] = [];
  let bytes = 0;
  for (const entry of entries) {
    batch.push(entry);
    bytes += entry.value.byteLength;
    if (bytes < batchBytes) continue;
    yield batch;
    batch = [];
    bytes = 0;
  }
  if (batch.length > 0) yield batch;
}

function describe(error: unknown): string {
  // Several addresses of one name that all failed.
  if (error instanceof AggregateError) return error.errors.map(describe).join(', ');
  return error instanceof Error ? error.message : String(error);
}
