import type { PoolClient } from 'pg';
import type { Adopted, JobShares, Member, SharedJob, SharedView } from './job-shares.ts';

type Transact = <T>(act: (client: PoolClient) => Promise<T>) => Promise<T>;

const silentMs = 'abs(extract(epoch FROM clock_timestamp() - renewed_at)) * 1000';
const isOver = `(released OR ${silentMs} >= lease_ms)`;

/**
 * Takes an epoch from the counter of a schema. It is at least the time in microseconds, so that a schema which is made
 * again, or restored from a backup, gives higher epochs than any before.
 */
export const nextEpoch = (schema: string): string => `
  UPDATE ${schema}.leader SET epoch = greatest(epoch + 1, floor(1e6 * extract(epoch FROM clock_timestamp())))
  RETURNING epoch`;

/** The leaders of the jobs in a PostgreSQL schema. */
export class PostgresShares implements JobShares {
  readonly #schema: string;
  readonly #transact: Transact;

  constructor(schema: string, transact: Transact) {
    this.#schema = schema;
    this.#transact = transact;
  }

  look(epoch: number, now: ReadonlyMap<string, string>): Promise<SharedView> {
    return this.#transact(async (client) => {
      if (now.size > 0) {
        await client.query(
          `UPDATE ${this.#schema}.jobs SET now = told.now
           FROM (SELECT * FROM unnest($2::text[], $3::text[]) AS t (job_id, now) ORDER BY 1) AS told
           WHERE jobs.job_id = told.job_id AND jobs.leader = $1`,
          [epoch, [...now.keys()], [...now.values()]],
        );
      }
      const members = await client.query(
        `SELECT epoch, holder, released, ${isOver} AS over, ${silentMs} AS silent_ms,
           extract(epoch FROM renewed_at) * 1000 AS renewed_at_ms
         FROM ${this.#schema}.coordinators ORDER BY epoch`,
      );
      const jobs = await client.query(
        `SELECT job_id, leader, epoch, writes, cancelled, now FROM ${this.#schema}.jobs ORDER BY job_id`,
      );
      const questions = await client.query(
        `SELECT id, job_id, what FROM ${this.#schema}.questions WHERE answer IS NULL ORDER BY id`,
      );
      return {
        members: members.rows.map(toMember),
        jobs: jobs.rows.map(toJob),
        questions: questions.rows.map((row) => ({ id: Number(row.id), jobId: row.job_id, what: row.what })),
      };
    });
  }

  adopt(epoch: number, orphans: readonly { jobId: string; leader: number }[]): Promise<Adopted[]> {
    const leaders = [...new Set(orphans.map(({ leader }) => leader))];
    return this.#transact(async (client) => {
      // In a fixed order, so that two members that fence each other do not deadlock.
      const { rows } = await client.query(
        `SELECT epoch, released, ${isOver} AS over FROM ${this.#schema}.coordinators
         WHERE epoch = ANY ($1) ORDER BY epoch FOR UPDATE`,
        [[epoch, ...leaders]],
      );
      const own = rows.find((row) => Number(row.epoch) === epoch);
      if (!own || own.released) return [];
      const alive = new Set(rows.filter(({ over }) => !over).map((row) => Number(row.epoch)));
      const dead = leaders.filter((leader) => leader !== epoch && !alive.has(leader));
      await client.query(`UPDATE ${this.#schema}.coordinators SET released = true WHERE epoch = ANY ($1)`, [dead]);
      const taken = orphans.filter(({ leader }) => dead.includes(leader));
      const adopted: Adopted[] = [];
      for (const { jobId, leader } of taken) {
        const { rows: moved } = await client.query(
          `WITH counted AS (${nextEpoch(this.#schema)})
           UPDATE ${this.#schema}.jobs SET leader = $1, epoch = counted.epoch, now = '' FROM counted
           WHERE job_id = $2 AND leader = $3 RETURNING jobs.epoch`,
          [epoch, jobId, leader],
        );
        for (const row of moved) adopted.push({ jobId, epoch: Number(row.epoch) });
      }
      return adopted;
    });
  }

  async cancel(jobId: string): Promise<void> {
    await this.#transact((client) =>
      client.query(`UPDATE ${this.#schema}.jobs SET cancelled = true WHERE job_id = $1 AND leader IS NOT NULL`, [
        jobId,
      ]),
    );
  }

  ask(jobId: string, what: string): Promise<number> {
    return this.#transact(async (client) => {
      await client.query(
        `DELETE FROM ${this.#schema}.questions WHERE asked_at < clock_timestamp() - interval '1 minute'`,
      );
      const { rows } = await client.query(
        `INSERT INTO ${this.#schema}.questions (job_id, what) VALUES ($1, $2) RETURNING id`,
        [jobId, what],
      );
      return Number(rows[0].id);
    });
  }

  async answer(id: number, text: string): Promise<void> {
    await this.#transact((client) =>
      client.query(`UPDATE ${this.#schema}.questions SET answer = $2 WHERE id = $1 AND answer IS NULL`, [id, text]),
    );
  }

  takeAnswer(id: number): Promise<string | undefined> {
    return this.#transact(async (client) => {
      const { rows } = await client.query(
        `DELETE FROM ${this.#schema}.questions WHERE id = $1 AND answer IS NOT NULL RETURNING answer`,
        [id],
      );
      return rows[0]?.answer as string | undefined;
    });
  }
}

const toMember = (row: Record<string, unknown>): Member => ({
  epoch: Number(row.epoch),
  holder: row.holder as string,
  isReleased: row.released as boolean,
  isOver: row.over as boolean,
  renewedAtMs: Number(row.renewed_at_ms),
  silentMs: Number(row.silent_ms),
});

const toJob = (row: Record<string, unknown>): SharedJob => ({
  jobId: row.job_id as string,
  leader: row.leader === null ? undefined : Number(row.leader),
  epoch: Number(row.epoch),
  writes: Number(row.writes),
  isCancelled: row.cancelled as boolean,
  now: row.now as string,
});
