/** A coordinator that leads jobs, or did. */
export interface Member {
  /** Its fencing number, unlike any other's; higher than those of all that came before. */
  epoch: number;
  /** Names it for people. */
  holder: string;
  /** It has given its jobs up. */
  isReleased: boolean;
  /** Its lease has ended, by the registry's clock. */
  isOver: boolean;
  /** When it renewed its lease last, in milliseconds by the same; it tells two renewals apart, and nothing else. */
  renewedAtMs: number;
  /** Milliseconds since then. */
  silentMs: number;
}

/** A job of the registry, and who leads it. */
export interface SharedJob {
  jobId: string;
  /** The epoch of the member that leads it; undefined once it has ended. */
  leader: number | undefined;
  /** The fencing number of its leases: it grows with every change of its leader. */
  epoch: number;
  /** Grows with every transaction that writes of it. */
  writes: number;
  /** Somebody wants it to end. */
  isCancelled: boolean;
  /** What its leader says of it for people, as it was told `look`; empty: nothing. */
  now: string;
}

/** Something that a member wants to know of a job, which the one that leads or led it has in memory alone. */
export interface Question {
  id: number;
  jobId: string;
  what: string;
}

/** All that coordinators know of each other. */
export interface SharedView {
  members: Member[];
  /** By id. */
  jobs: SharedJob[];
  /** Those that nobody has answered. */
  questions: Question[];
}

/**
 * Who leads which job of a registry that several coordinators lead at the same time. A job is led by the member that
 * first wrote of it, and by nobody once it has ended. As long as a member leads it, no other can write of it.
 */
export interface JobShares {
  /**
   * Notes what this member says of jobs that it leads, and reads everything. Promises nothing where it leads no more.
   */
  look(epoch: number, now: ReadonlyMap<string, string>): Promise<SharedView>;
  /**
   * Has this member lead those of the jobs that are still led by the member named beside them, each with an epoch
   * higher than any before. That member can write nothing any more, of these jobs and of all others. A member whose
   * lease is not over keeps its jobs. Nothing happens where this member leads no more.
   */
  adopt(epoch: number, orphans: readonly { jobId: string; leader: number }[]): Promise<Adopted[]>;
  /** Tells whoever leads the job that it is to end. Without effect where it has ended. */
  cancel(jobId: string): Promise<void>;
  /** Asks whoever leads or led the job; resolves with the id of the question, which is forgotten after a minute. */
  ask(jobId: string, what: string): Promise<number>;
  /** Answers a question; the first answer stays. Without effect where it is forgotten. */
  answer(id: number, text: string): Promise<void>;
  /** The answer to a question, which is forgotten with it; undefined while there is none. */
  takeAnswer(id: number): Promise<string | undefined>;
}

export interface Adopted {
  jobId: string;
  epoch: number;
}
