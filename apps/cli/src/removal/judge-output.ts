import type { StoredOutput } from '@halogrid/results/stored-output';

/** What happens to an output, and the reason in words. */
export type Fate = 'remove' | 'keep';
export interface Verdict {
  fate: Fate;
  why: string;
}

/** What is known of an output's job besides its job.json. */
export interface JobKnowledge {
  /** Whether the process in job.json runs on this machine. */
  isAlive: boolean;
  /** Whether that process would be seen here. */
  isOfThisHost: boolean;
  /** What the coordinator that was asked knows: the job runs, it can go on, or neither. Undefined: none was asked. */
  atCoordinator?: 'running' | 'can go on' | 'unknown';
}

export interface GarbageChoice {
  nowMs: number;
  /** Ended jobs go if they ended this long ago; undefined: none goes. */
  olderThanMs?: number | undefined;
  /** Whether results of jobs that nobody leads go, too. */
  unfinished?: boolean | undefined;
}

/** Whether `gc` removes an output. An output of a job that runs, or that a coordinator may go on with, never goes. */
export function judgeOutput(output: StoredOutput, known: JobKnowledge, choice: GarbageChoice): Verdict {
  const { state, isUnfinished, changedMs } = output;
  const { nowMs, olderThanMs, unfinished = false } = choice;
  const isOld = nowMs - changedMs >= (olderThanMs ?? (isUnfinished ? 0 : Number.POSITIVE_INFINITY));
  if (state === 'removed') return { fate: 'remove', why: 'its removal was interrupted' };
  const used = whyInUse(output, known);
  if (used !== undefined) return { fate: 'keep', why: used };
  // A coordinator does not know the jobs of 'halogrid run' on other machines.
  if (isUnfinished && !known.isOfThisHost && olderThanMs === undefined) {
    return { fate: 'keep', why: mayRunElsewhere(output, '--older-than') };
  }
  if (!isUnfinished) return isOld ? { fate: 'remove', why: 'old' } : { fate: 'keep', why: '' };
  if (!unfinished) return { fate: 'keep', why: nobodyLeads };
  return isOld ? { fate: 'remove', why: nobodyLeads } : { fate: 'keep', why: `${nobodyLeads}, but it is not old` };
}

/** The reason for an unfinished job without a process. */
export const nobodyLeads = 'unfinished, nobody leads it';

/** Why an unfinished output must stay; undefined if nobody uses it. */
export function whyInUse(
  output: StoredOutput,
  { isAlive, isOfThisHost, atCoordinator }: JobKnowledge,
): string | undefined {
  if (!output.isUnfinished) return undefined;
  if (isAlive) return `process ${output.coordinator!.pid} runs it`;
  if (atCoordinator === 'running') return 'it is running';
  if (atCoordinator === 'can go on') return "it can go on; 'halogrid cancel' gives it up";
  if (!isOfThisHost && atCoordinator === undefined) return mayRunElsewhere(output, '--coordinator');
  return undefined;
}

const mayRunElsewhere = ({ coordinator }: StoredOutput, option: string): string =>
  `the machine '${coordinator!.host}' may run it; look there, or give ${option}`;
