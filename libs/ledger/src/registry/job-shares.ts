/** A coordinator that leads jobs, or did. */
export interface Member {
  /** Its fencing number, which is unique, and higher than all earlier ones. */
  epoch: number;
  /** Names it for people. */
  holder: string;
  /** It has given up its jobs. */
  isReleased: boolean;
  /** Its lease has ended, by the registry's clock. */
  isOver: boolean;
  /** When it last renewed its lease, in milliseconds of that clock. Use it only to tell two renewals apart. */
  renewedAtMs: number;
  /** Milliseconds since that renewal. */
  silentMs: number;
}

/** A job of the registry, and its leader. */
export interface SharedJob {
  jobId: string;
  /** The epoch of the member that leads it; undefined once it has ended. */
  leader: number | undefined;
  /** The fencing number of its leases: it grows with every change of its leader. */
  epoch: number;
  /** Grows with every transaction that changes the job. */
  writes: number;
  /** The job was asked to end. */
  isCancelled: boolean;
  /** What its leader says about it for people, as passed to `look`; empty: nothing. */
  now: string;
}

/** A question about state of a job that only its present or last leader has in memory. */
export interface Question {
  id: number;
  jobId: string;
  what: string;
}

/** Everything that coordinators know about each other. */
export interface SharedView {
  members: Member[];
  /** By id. */
  jobs: SharedJob[];
  /** Questions without an answer. */
  questions: Question[];
}

/**
 * Who leads which job of a registry that several coordinators lead at the same time. The member that creates a job
 * leads it; nobody leads an ended job. While a member leads a job, no other can change it.
 */
export interface JobShares {
  /**
   * Stores what this member says about its jobs, and reads everything. May store nothing if the member no longer leads.
   */
  look(epoch: number, now: ReadonlyMap<string, string>): Promise<SharedView>;
  /**
   * This member becomes leader of each listed job that the listed `leader` still leads, with an epoch higher than any
   * before. From then on the earlier leader can write nothing at all. A leader whose lease is not over keeps its jobs.
   * Does nothing if this member no longer leads.
   */
  adopt(epoch: number, orphans: readonly { jobId: string; leader: number }[]): Promise<Adopted[]>;
  /** Asks the job's leader to end it. Without effect if it has ended. */
  cancel(jobId: string): Promise<void>;
  /** Asks the job's present or last leader. Resolves with the id of the question, which is forgotten after a minute. */
  ask(jobId: string, what: string): Promise<number>;
  /** Answers a question; the first answer stays. Without effect if the question is forgotten. */
  answer(id: number, text: string): Promise<void>;
  /** Takes the answer to a question, and forgets both; undefined while there is no answer. */
  takeAnswer(id: number): Promise<string | undefined>;
}

export interface Adopted {
  jobId: string;
  epoch: number;
}
