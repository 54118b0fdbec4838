import type { Ledger } from '@halogrid/ledger';
import type { Log } from '@halogrid/service';
import type { Clock } from '@halogrid/service/clock';
import type { Pause } from '@halogrid/service/system-pause';
import type { OwnerCredits } from '../scheduler/events.ts';
import type { Eyes } from '../sight/own-view.ts';
import type { JobSpans } from './job-spans.ts';
import type { JobWork } from './job-work.ts';
import type { Metrics } from './work-metrics.ts';

export interface DispatcherOptions {
  ledger: Ledger;
  work: JobWork;
  clock: Clock;
  /** A node is lost when it is silent for longer after an order. */
  reportWithinMs: number;
  metrics: Metrics;
  log: Log;
  /** Absent if no collector of spans is configured. */
  spans?: JobSpans | undefined;
  /** How the coordinator checks what it can read and write itself. */
  eyes?: Eyes;
  /** How long a job waits while nodes are attached and none meets its needs. */
  graceMs?: number;
  /** The same for a host or bucket that it needs to read from. */
  sourceGraceMs?: number;
  /** The same for room for its results; no limit by default. */
  spaceGraceMs?: number;
  /** The plan of a job is read ahead up to this many waiting shards; 4096 by default. */
  maxQueuedShards?: number;
  /** How many bytes the leases of owners may hold: the same object until that changes; no limits by default. */
  credits?: () => OwnerCredits;
  /** Jobs that other coordinators lead; absent if there are no others. */
  others?: OtherJobs;
  /** Cancels a failed job that could go on; returns false if there is no such job. */
  cancelEnded?: (jobId: string) => Promise<boolean>;
  /** Calls `task` every `ms` until the returned function is called; system timers by default. */
  every?: (ms: number, task: () => void) => () => void;
  /** Waits; with system timers by default. */
  pause?: Pause;
}

/** Knowledge of jobs that other coordinators lead. */
export interface OtherJobs {
  /** Resolves when the job has ended. */
  cancel(jobId: string): Promise<void>;
  /** The text that its leader wrote about it (`writeJobNow`); empty if it wrote none. */
  now(jobId: string): string;
}
