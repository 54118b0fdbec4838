import type { Speed } from './job-speed.ts';

/** Facts about a running job that are not in the ledger. */
export interface JobNow {
  /** Attached nodes that hold or held a shard of it; 0 once it has ended. */
  nodes: number;
  /** Why it waits although nodes are attached, in one sentence; empty if it does not wait. */
  waiting: string;
  /** Its speed, if it makes progress. */
  speed?: Speed | undefined;
}

/** Writes the text by which a coordinator tells others about its job. */
export const writeJobNow = (now: JobNow): string => JSON.stringify(now);

/** Reads the text of another coordinator; undefined if another version wrote it in another form. */
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
