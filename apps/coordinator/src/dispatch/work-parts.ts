import type { Ledger } from '@halogrid/ledger';
import type { Log } from '@halogrid/service';
import type { Clock } from '@halogrid/service/clock';
import type { Command } from '../scheduler/commands.ts';
import type { BroughtLease, SchedulerEvent } from '../scheduler/events.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import type { JobSights } from '../sight/job-sights.ts';
import type { ComparableAnswer } from './answer-digest.ts';
import type { HistoryKeeper } from './history/history-keeper.ts';
import type { LeftNodes } from './left-nodes.ts';
import type { NodeSessions } from './node-sessions.ts';
import type { RunningJobs } from './running-jobs.ts';
import type { WorkRecorder } from './work-recorder.ts';

/** A command of the scheduler. */
export type WorkCommand = Command<ComparableAnswer>;

/** Sends an event to the scheduler, and executes its commands. `first` gets the commands before any is executed. */
export type Tell = (
  event: SchedulerEvent<ComparableAnswer>,
  first?: (commands: readonly WorkCommand[]) => void,
) => void;

/** State that the drivers of jobs and nodes share. */
export interface WorkParts {
  ledger: Ledger;
  clock: Clock;
  log: Log;
  scheduler: Scheduler<ComparableAnswer>;
  running: RunningJobs;
  sessions: NodeSessions;
  left: LeftNodes;
  sights: JobSights;
  recorder: WorkRecorder;
  keeper: HistoryKeeper;
  tell: Tell;
}

/** The leases that a node brought along and that go on. */
export function adoptedOf(commands: readonly WorkCommand[]): BroughtLease[] {
  const adopted = commands.filter((command) => command.kind === 'AdoptShard');
  return adopted.map(({ lease, verify, inPart }) => ({ ...lease, verify, inPart }));
}
