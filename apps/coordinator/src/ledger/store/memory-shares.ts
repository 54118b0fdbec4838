import type { Adopted, JobShares, Question, SharedJob, SharedView } from '../../registry/job-shares.ts';
import {
  type Change,
  type Entry,
  type EntryFilter,
  FencedError,
  type Leader,
  type LedgerStore,
} from './ledger-store.ts';
import { MemoryStore, SharedMemory } from './memory-store.ts';

interface HeldLease {
  holder: string;
  isReleased: boolean;
  renewedMs: number;
  leaseMs: number;
}

/** What stores of one memory share that several coordinators lead. */
export class SharesMemory {
  readonly members = new Map<number, HeldLease>();
  readonly jobs = new Map<string, SharedJob>();
  readonly questions = new Map<number, Question & { answer: string | undefined }>();
  lastQuestion = 0;
  epoch = 0;
  /** Entries of all of them, in a store that has one leader, with the first epoch. */
  readonly store: MemoryStore;
  readonly entries: SharedMemory['entries'];

  constructor() {
    const memory = new SharedMemory();
    this.entries = memory.entries;
    this.store = new MemoryStore({ memory, nowMs: () => 0 });
    void this.store.acquire('all', 1);
  }
}

/** A store that forgets and that several lead, for tests and the simulation. */
export class SharedMemoryStore implements LedgerStore {
  readonly shares: JobShares = {
    look: async (epoch, now) => this.#look(epoch, now),
    adopt: async (epoch, orphans) => this.#adopt(epoch, orphans),
    cancel: async (jobId) => {
      const job = this.#memory.jobs.get(jobId);
      if (job?.leader !== undefined) job.isCancelled = true;
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

  constructor(memory: SharesMemory, nowMs: () => number = () => performance.now()) {
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

  entries(of?: EntryFilter): AsyncIterable<Entry> {
    return this.#memory.store.entries(of);
  }

  async write(epoch: number, changes: readonly Change[]): Promise<void> {
    const { jobs, store, members } = this.#memory;
    const written = new Set(changes.flatMap(({ jobId, kind }) => (kind === undefined ? [] : [jobId])));
    const emptied = new Set(changes.flatMap(({ jobId, kind }) => (kind === undefined ? [jobId] : [])));
    const isLeader = [...written, ...emptied].every((jobId) => [undefined, epoch].includes(jobs.get(jobId)?.leader));
    if (members.get(epoch)?.isReleased !== false || !isLeader) throw new FencedError(epoch, await this.leader());
    const made = store.write(1, changes);
    for (const jobId of written) {
      const job = jobs.get(jobId) ?? { jobId, leader: epoch, epoch, writes: 0, isCancelled: false, now: '' };
      job.writes++;
      jobs.set(jobId, job);
    }
    for (const jobId of emptied) {
      if (written.has(jobId)) Object.assign(jobs.get(jobId)!, { leader: undefined, now: '' });
      else jobs.delete(jobId);
    }
    await made;
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
      if (job?.leader === epoch) job.now = text;
    }
    return {
      members: [...members].map(([epoch, { holder, isReleased, renewedMs }]) => {
        const isOver = this.#isOver(epoch);
        return { epoch, holder, isReleased, isOver, renewedAtMs: renewedMs, silentMs: nowMs - renewedMs };
      }),
      jobs: [...jobs.values()].map((job) => ({ ...job })).sort((a, b) => (a.jobId < b.jobId ? -1 : 1)),
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
      Object.assign(job, { leader: epoch, epoch: ++this.#memory.epoch, now: '' });
      adopted.push({ jobId, epoch: job.epoch });
    }
    return adopted;
  }
}
