import { Refusal, refuseValue } from '@halogrid/jobs/refusal';
import type { JobRecord } from '@halogrid/ledger';
import type { JobSpec } from '@halogrid/proto';
import { type RulesOfOwners, rulesOf } from '@halogrid/service';

/** Refuses jobs of owners who have as many as they may, or ask for a higher priority than they may. */
export class OwnerLimits {
  readonly #rules: () => RulesOfOwners;
  readonly #jobs: () => Promise<readonly JobRecord[]>;
  /**
   * Jobs that are being submitted, by owner, each with its id once it has one: several callers at once must not exceed
   * a limit together.
   */
  readonly #coming = new Map<string, Set<{ jobId?: string }>>();

  /** `jobs` gives all jobs, of other coordinators too. */
  constructor(rules: () => RulesOfOwners, jobs: () => Promise<readonly JobRecord[]>) {
    this.#rules = rules;
    this.#jobs = jobs;
  }

  /**
   * Has the job submitted, unless that is beyond a limit: then rejects with Refusal. `submit` calls `named` with the id
   * of the job before others can see it.
   */
  async within<T>(
    owner: string,
    spec: JobSpec | undefined,
    submit: (named: (jobId: string) => void) => Promise<T>,
  ): Promise<T> {
    const { jobs: most, priority: highest } = rulesOf(this.#rules(), owner);
    const priority = spec?.priority ?? 0;
    const name = owner && `'${owner}'`;
    if (priority > highest) {
      refuseValue('priority', priority, `${highest} or less, as the coordinator allows ${name || 'everybody'},`);
    }
    if (most === Number.POSITIVE_INFINITY) return submit(() => {});
    const coming = this.#coming.get(owner) ?? new Set();
    this.#coming.set(owner, coming);
    const own: { jobId?: string } = {};
    const others = [...coming];
    coming.add(own);
    try {
      const open = (await this.#jobs()).filter((job) => job.finishedMs === 0 && (job.owner ?? '') === owner);
      const seen = open.filter(({ jobId }) => !others.some((other) => other.jobId === jobId));
      if (seen.length + others.length >= most) {
        const remedy = most > 0 ? ': wait until one has ended, or cancel one' : '';
        const who = name || 'Everybody together';
        throw new Refusal('exhausted', `${who} may have ${most} open jobs, and has as many${remedy}`);
      }
      return await submit((jobId) => {
        own.jobId = jobId;
      });
    } finally {
      coming.delete(own);
      if (coming.size === 0) this.#coming.delete(owner);
    }
  }
}
