import type { Speed } from './job-speed.ts';

/** What is known of a job beside what the ledger says. */
export interface JobNow {
  /** Attached nodes that hold or held a shard of it; 0 once it has ended. */
  nodes: number;
  /** Why it does not go on though nodes are attached, in one sentence; empty where it does. */
  waiting: string;
  /** How fast it goes, where it does. */
  speed?: Speed | undefined;
}

/** The text by which a coordinator tells others what its job is at. */
export const writeJobNow = (now: JobNow): string => JSON.stringify(now);

/** What another coordinator wrote; undefined for a text of another form, which a coordinator of another version may write. */
export function readJobNow(text: string): JobNow | undefined {
  const told = parse(text);
  return isJobNow(told) ? told : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isRecord = (told: unknown): told is Record<string, unknown> => typeof told === 'object' && told !== null;

const isJobNow = (told: unknown): told is JobNow =>
  isRecord(told) &&
  typeof told.nodes === 'number' &&
  typeof told.waiting === 'string' &&
  (told.speed === undefined || isSpeed(told.speed));

const isSpeed = (told: unknown): told is Speed =>
  isRecord(told) && typeof told.pixelsPerSecond === 'number' && typeof told.shardsPerSecond === 'number';
