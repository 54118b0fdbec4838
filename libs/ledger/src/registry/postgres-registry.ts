// Only this file and postgres-shares.ts import pg.
import { protocols, protocolsInWords } from '@halogrid/proto';
import { resultsVersion, softwareVersion, UsageError } from '@halogrid/service';
import { Pool, type PoolClient } from 'pg';
import { type JobRow, readRow } from './job-row.ts';
import type { JobShares } from './job-shares.ts';
import { OlderLedgerError, OtherVersionError } from './ledger-errors.ts';
import { firstFormat, migrationsFrom, registryFormat, sharedFormats } from './migrations.ts';
import { type NetJobs, type NetRow, netJobs } from './net-jobs.ts';
import { nextEpoch, PostgresShares } from './postgres-shares.ts';
import { FencedError, type JobChange, type Leader, type RegisteredJob, type Registry } from './registry.ts';

/**
 * Number of the lock that keeps two processes from making the schema at once. Any number that others are unlikely to
 * use.
 */
const schemaLock = 0x48414c4f;

/** The schema of a cluster, unless its URL names another. */
const defaultSchema = 'halogrid';
/** Names that need no quotes, and are not too long for PostgreSQL. */
const schemaPattern = /^[a-z_][a-z0-9_]{0,62}$/;

/** `leads_since` is for people. The epochs of members and of adopted jobs come from one counter (see nextEpoch). */
const tablesOf = (schema: string): string => `
  CREATE SCHEMA IF NOT EXISTS ${schema};
  CREATE TABLE ${schema}.jobs (
    job_id text COLLATE "C" PRIMARY KEY, spec text NOT NULL, spec_sum bigint NOT NULL,
    status text NOT NULL, marks text NOT NULL, status_sum bigint NOT NULL,
    leader bigint, epoch bigint NOT NULL, writes bigint NOT NULL DEFAULT 1,
    cancelled boolean NOT NULL DEFAULT false, now text NOT NULL DEFAULT ''
  );
  CREATE TABLE ${schema}.coordinators (
    epoch bigint PRIMARY KEY, holder text NOT NULL, released boolean NOT NULL DEFAULT false,
    software text NOT NULL, protocol integer NOT NULL, results integer NOT NULL,
    leads_since timestamptz NOT NULL, renewed_at timestamptz NOT NULL, lease_ms bigint NOT NULL
  );
  CREATE TABLE ${schema}.leader (
    id integer PRIMARY KEY CHECK (id = 1), schema_version integer NOT NULL, epoch bigint NOT NULL
  );
  INSERT INTO ${schema}.leader VALUES (1, ${sharedFormats + firstFormat}, 0);
  -- A crash of the server may lose what coordinators ask each other.
  CREATE UNLOGGED TABLE ${schema}.questions (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, job_id text NOT NULL, what text NOT NULL, answer text,
    asked_at timestamptz NOT NULL DEFAULT clock_timestamp()
  );
`;

const silentMs = 'abs(extract(epoch FROM clock_timestamp() - renewed_at)) * 1000';
/** A lease that ends later than it was granted means that the clock was set back: it is over too. */
const isOver = `(released OR ${silentMs} >= lease_ms)`;
/** A member that leads nothing is forgotten after so many milliseconds of silence. */
const forgottenMs = 600_000;

/**
 * A transaction of a stopped or cut-off process must not hold its member's row for long: the member that adopts its
 * jobs waits for the row, beyond the lease. These are set in each transaction, because a pooler between may give each
 * another session.
 */
const begin = `
  BEGIN;
  SET LOCAL idle_in_transaction_session_timeout = 3000;
  SET LOCAL statement_timeout = 30000;
  SET LOCAL synchronous_commit = on;
`;

/** Longer than the server's own limits, so that it applies only to a server that cannot be reached. */
const answerWithinMs = 40_000;
const connectWithinMs = 5_000;
/** A renewal without an answer by then is repeated over another connection: the first may lead to a lost server. */
const renewWithinMs = 5_000;

/** A page ends with the row that reaches either. */
const pageRows = 1000;
const pageBytes = 2 ** 20;

/** Rolls back a transaction whose member does not lead the jobs that it changes. */
class NotLed extends Error {}

/** The registry in a PostgreSQL database, in its own schema, for coordinators on several machines. */
export class PostgresRegistry implements Registry {
  readonly shares: JobShares;
  readonly #name: string;
  readonly #schema: string;
  readonly #pool: Pool;
  /** One connection that only renews the lease, so that it waits for nothing else. */
  readonly #renewals: Pool;
  /** Writes wait for those before them. */
  #lastWrite: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  /**
   * Connects to the database of a URL such as postgres://USER@HOST:PORT/DATABASE?schema=NAME, and makes the schema if
   * it is missing; its name is `halogrid` unless the URL has one. Rejects with one sentence that names the database
   * without the user and password.
   */
  static async open(url: URL): Promise<PostgresRegistry> {
    const registry = new PostgresRegistry(url);
    try {
      await registry.#transact((client) => prepareSchema(client, registry.#schema, registry.#name));
      return registry;
    } catch (error) {
      await registry.close();
      throw error;
    }
  }

  private constructor(url: URL) {
    const schema = url.searchParams.get('schema') ?? defaultSchema;
    if (!schemaPattern.test(schema)) {
      throw new UsageError(
        `Expected a lower-case name of letters, digits and _ as schema of --ledger but received '${schema.slice(0, 100)}'`,
      );
    }
    this.#schema = schema;
    this.shares = new PostgresShares(schema, (act) => this.#transact(act));
    const host = decodeURIComponent(url.hostname) || url.searchParams.get('host') || 'localhost';
    this.#name = `postgres://${host}${url.port && `:${url.port}`}${url.pathname}`;
    const connection = new URL(url);
    connection.searchParams.delete('schema');
    // Three connections: for a write, for reading a page, and for a look at the leaders.
    this.#pool = openPool(connection.href, 3, answerWithinMs);
    this.#renewals = openPool(connection.href, 1, renewWithinMs);
  }

  async acquire(holder: string, leaseMs: number): Promise<number | undefined> {
    return this.#transact(async (client) => {
      // The row is locked from here on, so that one of two versions that come at the same time is refused.
      const counted = await client.query(nextEpoch(this.#schema));
      const { rows: others } = await client.query(
        `SELECT holder, software, protocol, results FROM ${this.#schema}.coordinators
         WHERE NOT ${isOver} AND (protocol < $1 OR protocol > $2 OR results <> $3) ORDER BY epoch DESC LIMIT 1`,
        [protocols.oldest, protocols.newest + 1, resultsVersion],
      );
      if (others.length > 0) throw otherVersion(others[0]);
      await client.query(
        `DELETE FROM ${this.#schema}.coordinators WHERE (released OR ${silentMs} > ${forgottenMs})
         AND NOT EXISTS (SELECT FROM ${this.#schema}.jobs WHERE leader = coordinators.epoch)`,
      );
      const epoch = Number(counted.rows[0].epoch);
      await client.query(
        `INSERT INTO ${this.#schema}.coordinators
         VALUES ($1, $2, false, $3, $4, $5, clock_timestamp(), clock_timestamp(), $6)`,
        [epoch, holder, softwareVersion, protocols.newest, resultsVersion, leaseMs],
      );
      return epoch;
    });
  }

  /** A single statement, so that no process can stop in the middle of it. */
  async renew(epoch: number, leaseMs: number): Promise<boolean> {
    try {
      const { rowCount } = await this.#renewals.query(
        `UPDATE ${this.#schema}.coordinators SET renewed_at = clock_timestamp(), lease_ms = $2
         WHERE epoch = $1 AND NOT released`,
        [epoch, leaseMs],
      );
      return rowCount! > 0;
    } catch (error) {
      throw this.#unusable(error);
    }
  }

  async release(epoch: number): Promise<void> {
    await this.#ask(`UPDATE ${this.#schema}.coordinators SET released = true WHERE epoch = $1`, [epoch]);
  }

  /** The leader; with several, the last that came. */
  async leader(): Promise<Leader | undefined> {
    const [row] = await this.#ask(
      `SELECT holder, epoch FROM ${this.#schema}.coordinators WHERE NOT ${isOver} ORDER BY epoch DESC LIMIT 1`,
    );
    return row && { holder: row.holder as string, epoch: Number(row.epoch) };
  }

  async *jobs(ids?: readonly string[]): AsyncIterable<RegisteredJob> {
    let after = '';
    for (;;) {
      const page = await this.#page(after, ids);
      if (page.length === 0) return;
      for (const row of page) yield readRow(row);
      after = page.at(-1)!.jobId;
    }
  }

  async write(epoch: number, changes: readonly JobChange[]): Promise<void> {
    const net = netJobs(changes);
    const written = this.#lastWrite.then(() =>
      this.#transact(async (client) => {
        // By this lock, a member that takes over the jobs waits for the end of this transaction; a renewal does not
        // wait.
        const leads = await client.query(
          `SELECT 1 FROM ${this.#schema}.coordinators WHERE epoch = $1 AND NOT released FOR KEY SHARE`,
          [epoch],
        );
        if (leads.rows.length === 0 || !(await writeJobs(client, this.#schema, epoch, net))) throw new NotLed();
      }),
    );
    this.#lastWrite = written.catch(() => {});
    await written.catch(async (error) => {
      throw error instanceof NotLed ? new FencedError(epoch, await this.leader()) : error;
    });
  }

  async writeHistories(epoch: number, histories: ReadonlyMap<string, string>): Promise<void> {
    await this.#ask(
      `INSERT INTO ${this.#schema}.histories
       SELECT job_id, told.history FROM unnest($2::text[], $3::text[]) AS told (job_id, history)
       JOIN ${this.#schema}.jobs USING (job_id) WHERE leader = $1 OR leader IS NULL
       ORDER BY 1
       ON CONFLICT (job_id) DO UPDATE SET history = excluded.history`,
      [epoch, [...histories.keys()], [...histories.values()]],
    );
  }

  async history(jobId: string): Promise<string | undefined> {
    const [row] = await this.#ask(`SELECT history FROM ${this.#schema}.histories WHERE job_id = $1`, [jobId]);
    return row?.history as string | undefined;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#lastWrite;
    await Promise.all([this.#pool.end(), this.#renewals.end()]);
  }

  async #page(after: string, ids: readonly string[] | undefined): Promise<JobRow[]> {
    const among = ids ? 'AND job_id = ANY ($2)' : '';
    const rows = await this.#ask(
      `SELECT job_id, spec, spec_sum, status, marks, status_sum, leader, epoch
       FROM (
         SELECT *, sum(octet_length(spec) + octet_length(status)) OVER (ORDER BY job_id)
           - octet_length(spec) - octet_length(status) AS bytes_before
         FROM (
           SELECT * FROM ${this.#schema}.jobs WHERE job_id > $1 ${among} ORDER BY job_id LIMIT ${pageRows}
         ) AS rows
       ) AS page
       WHERE bytes_before < ${pageBytes} ORDER BY job_id`,
      ids ? [after, ids] : [after],
    );
    return rows.map((row) => ({
      jobId: row.job_id as string,
      spec: row.spec as string,
      specSum: Number(row.spec_sum),
      status: row.status as string,
      marks: row.marks as string,
      statusSum: Number(row.status_sum),
      leader: row.leader === null ? null : Number(row.leader),
      epoch: Number(row.epoch),
    }));
  }

  #ask(sql: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
    return this.#transact(async (client) => (await client.query(sql, values)).rows);
  }

  /** Calls `act` in one transaction. Rejects with one sentence; the next use replaces a broken connection. */
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
      if (isOfOurs.some((its) => error instanceof its)) throw error;
      throw this.#unusable(error);
    }
  }

  #unusable(error: unknown): Error {
    const why = this.#isClosed ? 'it is closed' : describe(error);
    return new Error(`The ledger at ${this.#name} cannot be used: ${why}`);
  }
}

function openPool(connectionString: string, max: number, answerWithinMs: number): Pool {
  const pool = new Pool({
    connectionString,
    max,
    application_name: 'halogrid coordinator',
    connectionTimeoutMillis: connectWithinMs,
    query_timeout: answerWithinMs,
    keepAlive: true,
  });
  // A connection may break while nobody uses it, or between two statements; the statement that follows rejects.
  pool.on('error', () => {});
  pool.on('connect', (client) => void client.on('error', () => {}));
  return pool;
}

async function prepareSchema(client: PoolClient, schema: string, name: string): Promise<void> {
  await client.query('SELECT pg_advisory_xact_lock($1)', [schemaLock]);
  const { rows } = await client.query('SELECT to_regclass($1) AS leader', [`${schema}.leader`]);
  if (rows[0].leader === null) await client.query(tablesOf(schema));
  const { schema_version: version } = (await client.query(`SELECT schema_version FROM ${schema}.leader`)).rows[0];
  const known = sharedFormats + registryFormat;
  if (version > known) throw new Error(`it is of format ${version} and this halogrid knows formats up to ${known}`);
  if (version < sharedFormats + firstFormat) throw new OlderLedgerError(`The ledger at ${name}`, version, known);
  for (const { to, postgres } of migrationsFrom(version - sharedFormats)) {
    await client.query(postgres(schema));
    await client.query(`UPDATE ${schema}.leader SET schema_version = ${sharedFormats + to}`);
  }
}

function otherVersion(other: Record<string, unknown>): OtherVersionError {
  return new OtherVersionError(
    `The ledger is led by another version: ${other.holder} speaks protocol ${other.protocol} and computes results of version ` +
      `${other.results} (software ${other.software}), this one ${protocolsInWords(protocols)} and ${resultsVersion} (software ` +
      `${softwareVersion}); end the others first, or run their version`,
  );
}

/** Errors whose sentence needs no addition. */
const isOfOurs = [OlderLedgerError, OtherVersionError, NotLed];

/**
 * Makes the changes. False if this member does not lead one of the jobs: then the transaction must not be committed.
 */
async function writeJobs(
  client: PoolClient,
  schema: string,
  epoch: number,
  { removed, written }: NetJobs,
): Promise<boolean> {
  if (removed.length > 0) {
    const { rows } = await client.query(
      `WITH asked AS (SELECT leader FROM ${schema}.jobs WHERE job_id = ANY ($2) ORDER BY job_id FOR UPDATE)
       SELECT 1 FROM asked WHERE leader <> $1 LIMIT 1`,
      [epoch, removed],
    );
    if (rows.length > 0) return false;
    await client.query(`DELETE FROM ${schema}.jobs WHERE job_id = ANY ($1)`, [removed]);
  }
  const begun = written.filter(({ spec }) => spec !== undefined);
  const known = written.filter(({ spec }) => spec === undefined);
  return (await beginJobs(client, schema, epoch, begun)) && (await noteJobs(client, schema, epoch, known));
}

/** The end of a job may be written again, because it can be unknown whether the first write succeeded. */
const isOwn = (isEnd: string): string => `(jobs.leader = $1 OR jobs.leader IS NULL AND ${isEnd})`;

async function beginJobs(client: PoolClient, schema: string, epoch: number, jobs: readonly NetRow[]): Promise<boolean> {
  if (jobs.length === 0) return true;
  const { rows } = await client.query(
    `INSERT INTO ${schema}.jobs (job_id, status, marks, status_sum, leader, epoch, spec, spec_sum)
     SELECT job_id, status, marks, status_sum, CASE WHEN ended THEN NULL ELSE $1::bigint END, $1, spec, spec_sum
     FROM unnest($2::text[], $3::text[], $4::text[], $5::bigint[], $6::boolean[], $7::text[], $8::bigint[])
       AS t (job_id, status, marks, status_sum, ended, spec, spec_sum)
     ON CONFLICT (job_id) DO UPDATE SET status = excluded.status, marks = excluded.marks,
       status_sum = excluded.status_sum, leader = excluded.leader, writes = jobs.writes + 1
       WHERE ${isOwn('excluded.leader IS NULL')} RETURNING 1`,
    [epoch, ...columnsOf(jobs), jobs.map(({ spec }) => spec), jobs.map(({ specSum }) => specSum)],
  );
  return rows.length === jobs.length;
}

async function noteJobs(client: PoolClient, schema: string, epoch: number, jobs: readonly NetRow[]): Promise<boolean> {
  if (jobs.length === 0) return true;
  const { rows } = await client.query(
    `UPDATE ${schema}.jobs SET status = told.status, marks = told.marks, status_sum = told.status_sum,
       leader = CASE WHEN ended THEN NULL ELSE leader END, now = CASE WHEN ended THEN '' ELSE now END,
       writes = writes + 1
     FROM (
       SELECT * FROM unnest($2::text[], $3::text[], $4::text[], $5::bigint[], $6::boolean[])
         AS t (job_id, status, marks, status_sum, ended) ORDER BY 1
     ) AS told
     WHERE jobs.job_id = told.job_id AND ${isOwn('ended')} RETURNING 1`,
    [epoch, ...columnsOf(jobs)],
  );
  return rows.length === jobs.length;
}

const columnsOf = (jobs: readonly NetRow[]): unknown[] => [
  jobs.map(({ jobId }) => jobId),
  jobs.map(({ status }) => status),
  jobs.map(({ marks }) => marks),
  jobs.map(({ statusSum }) => statusSum),
  jobs.map(({ hasEnded }) => hasEnded),
];

function describe(error: unknown): string {
  // All addresses of the name failed.
  if (error instanceof AggregateError) return error.errors.map(describe).join(', ');
  return error instanceof Error ? error.message : String(error);
}
