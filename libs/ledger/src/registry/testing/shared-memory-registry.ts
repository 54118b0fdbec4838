import { systemClock } from '@halogrid/service/clock';
import type { Adopted, JobShares, Question, SharedView } from '../job-shares.ts';
import { JobsInMemory } from '../jobs-in-memory.ts';
import { FencedError, type JobChange, type Leader, type RegisteredJob, type Registry } from '../registry.ts';

interface HeldLease {
  holder: string;
  isReleased: boolean;
  renewedMs: number;
  leaseMs: number;
}

/** State that the registries of several coordinators share. */
export class SharesMemory {
  readonly members = new Map<number, HeldLease>();
  readonly jobs = new JobsInMemory();
  readonly questions = new Map<number, Question & { answer: string | undefined }>();
  lastQuestion = 0;
  epoch = 0;
}

/** A registry in memory that several coordinators lead, for tests and the simulation. */
export class SharedMemoryRegistry implements Registry {
  readonly shares: JobShares = {
    look: async (epoch, now) => this.#look(epoch, now),
    adopt: async (epoch, orphans) => this.#adopt(epoch, orphans),
    cancel: async (jobId) => {
      const job = this.#memory.jobs.get(jobId);
      if (job?.leader !== undefined) this.#memory.jobs.set({ ...job, isCancelled: true });
    },
    ask: async (jobId, what) => {
      const id = ++this.#memory.lastQuestion;
      this.#memory.questions.set(id, { id, jobId, what, answer: undefined });
      return id;
    },
    answer: async (id, text) => {
      const question = this.#memory.questions.get(id);
      if (question) question.answer ??= text;
    },
    takeAnswer: async (id) => {
      const answer = this.#memory.questions.get(id)?.answer;
      if (answer !== undefined) this.#memory.questions.delete(id);
      return answer;
    },
  };
  readonly #memory: SharesMemory;
  readonly #nowMs: () => number;

  constructor(memory: SharesMemory, nowMs = systemClock.monotonicMs) {
    this.#memory = memory;
    this.#nowMs = nowMs;
  }

  async acquire(holder: string, leaseMs: number): Promise<number> {
    const nowMs = this.#nowMs();
    const epoch = ++this.#memory.epoch;
    this.#memory.members.set(epoch, { holder, isReleased: false, renewedMs: nowMs, leaseMs });
    return epoch;
  }

  async renew(epoch: number, leaseMs: number): Promise<boolean> {
    const member = this.#memory.members.get(epoch);
    if (!member || member.isReleased) return false;
    Object.assign(member, { renewedMs: this.#nowMs(), leaseMs });
    return true;
  }

  async release(epoch: number): Promise<void> {
    const member = this.#memory.members.get(epoch);
    if (member) member.isReleased = true;
  }

  async leader(): Promise<Leader | undefined> {
    const [last] = [...this.#memory.members].filter(([epoch]) => !this.#isOver(epoch)).reverse();
    return last && { epoch: last[0], holder: last[1].holder };
  }

  async *jobs(ids?: readonly string[]): AsyncIterable<RegisteredJob> {
    for (const job of this.#memory.jobs.all()) {
      const { jobId, spec, status, marks, leader, epoch } = job;
      if (!ids || ids.includes(jobId)) yield { jobId, spec, status, marks, leader, epoch };
    }
  }

  async write(epoch: number, changes: readonly JobChange[]): Promise<void> {
    const { members, jobs } = this.#memory;
    if (members.get(epoch)?.isReleased !== false || !jobs.write(epoch, changes)) {
      throw new FencedError(epoch, await this.leader());
    }
  }

  async writeHistories(epoch: number, histories: ReadonlyMap<string, string>): Promise<void> {
    this.#memory.jobs.writeHistories(epoch, histories);
  }

  async history(jobId: string): Promise<string | undefined> {
    return this.#memory.jobs.history(jobId);
  }

  async close(): Promise<void> {}

  #isOver(epoch: number): boolean {
    const member = this.#memory.members.get(epoch);
    return !member || member.isReleased || this.#nowMs() - member.renewedMs >= member.leaseMs;
  }

  #look(epoch: number, now: ReadonlyMap<string, string>): SharedView {
    const { members, jobs, questions } = this.#memory;
    const nowMs = this.#nowMs();
    for (const [jobId, text] of now) {
      const job = jobs.get(jobId);
      if (job?.leader === epoch) jobs.set({ ...job, now: text });
    }
    return {
      members: [...members].map(([epoch, { holder, isReleased, renewedMs }]) => {
        const isOver = this.#isOver(epoch);
        return { epoch, holder, isReleased, isOver, renewedAtMs: renewedMs, silentMs: nowMs - renewedMs };
      }),
      jobs: jobs.all().map(({ jobId, leader, epoch, writes, isCancelled, now }) => {
        return { jobId, leader, epoch, writes, isCancelled, now };
      }),
      questions: [...questions.values()].flatMap(({ answer, ...question }) => (answer === undefined ? [question] : [])),
    };
  }

  #adopt(epoch: number, orphans: readonly { jobId: string; leader: number }[]): Adopted[] {
    const { members, jobs } = this.#memory;
    if (members.get(epoch)?.isReleased !== false) return [];
    const adopted: Adopted[] = [];
    for (const { jobId, leader } of orphans) {
      if (leader === epoch || !this.#isOver(leader)) continue;
      const fenced = members.get(leader);
      if (fenced) fenced.isReleased = true;
      const job = jobs.get(jobId);
      if (job?.leader !== leader) continue;
      const taken = { ...job, leader: epoch, epoch: ++this.#memory.epoch, now: '' };
      jobs.set(taken);
      adopted.push({ jobId, epoch: taken.epoch });
    }
    return adopted;
  }
}
