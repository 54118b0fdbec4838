import type { OwnerCredits } from '../scheduler/events.ts';
import { Scheduler } from '../scheduler/scheduler.ts';
import { JobSights } from '../sight/job-sights.ts';
import { ownEyes } from '../sight/own-view.ts';
import { CommandRunner } from './command-runner.ts';
import type { DispatcherOptions } from './dispatcher-options.ts';
import { HistoryKeeper } from './history/history-keeper.ts';
import { JobDriver } from './job-driver.ts';
import { LeftNodes } from './left-nodes.ts';
import { NodeDriver } from './node-driver.ts';
import { NodeSessions } from './node-sessions.ts';
import { RunningJobs } from './running-jobs.ts';
import type { Tell, WorkParts } from './work-parts.ts';
import { WorkRecorder } from './work-recorder.ts';
import { WorkView } from './work-view.ts';

/** Time between ticks; a silent node is noticed at most this much late. */
const tickMs = 100;

/**
 * Drives the scheduler: sends it events with times, executes its commands, and keeps the ledger. It owns the only
 * timer.
 */
export class Dispatcher {
  readonly jobs: JobDriver;
  readonly nodes: NodeDriver;
  /** Answers questions about jobs and nodes. */
  readonly view: WorkView;
  readonly #parts: WorkParts;
  readonly #commands: CommandRunner;
  readonly #creditsNow: DispatcherOptions['credits'];
  #credits: OwnerCredits | undefined;
  readonly #stopTicks: () => void;

  constructor(options: DispatcherOptions) {
    const { reportWithinMs, ledger, metrics, clock, log } = options;
    const { eyes = ownEyes, every = systemTimer } = options;
    const tell: Tell = (event, first) => {
      const commands = this.#parts.scheduler.handle(event, clock.monotonicMs());
      first?.(commands);
      for (const command of commands) this.#commands.run(command);
    };
    const recorder = new WorkRecorder(metrics, clock, log, options.spans);
    this.#parts = {
      ledger,
      clock,
      log,
      scheduler: new Scheduler({ epoch: ledger.epoch, reportWithinMs, tickMs, ...gracesOf(options) }),
      running: new RunningJobs(),
      sessions: new NodeSessions(),
      left: new LeftNodes(() => clock.wallMs()),
      sights: new JobSights(
        eyes,
        () => clock.monotonicMs(),
        (session, need, shown) => tell({ ...shown, session, need }),
      ),
      recorder,
      keeper: new HistoryKeeper({ histories: recorder.histories, ledger, clock }),
      tell,
    };
    this.view = new WorkView(this.#parts, options.others);
    this.jobs = new JobDriver(this.#parts, options);
    this.nodes = new NodeDriver(this.#parts);
    this.#commands = new CommandRunner(this.#parts, this.nodes);
    this.#creditsNow = options.credits;
    this.#limitOwners();
    this.#stopTicks = every(tickMs, () => this.#tick());
  }

  /** The fencing number that leases carry. */
  get epoch(): number {
    return this.#parts.ledger.epoch;
  }

  /** Stops planning, ends every conversation, and resolves when no job is at work any more. Jobs stay as they are. */
  async close(): Promise<void> {
    this.#stopTicks();
    const closed = this.#parts.running.close();
    this.nodes.dropAll('The coordinator stops');
    await closed;
    // Each run has left its history when it ended.
    await this.#parts.keeper.keep(new Map());
  }

  /** Tells the scheduler of limits that have changed. */
  #limitOwners(): void {
    const credits = this.#creditsNow?.();
    if (!credits || credits === this.#credits) return;
    this.#credits = credits;
    this.#parts.tell({ kind: 'OwnersLimited', credits });
  }

  #tick(): void {
    const { scheduler, running, tell } = this.#parts;
    this.#limitOwners();
    tell({ kind: 'Tick' });
    this.#parts.keeper.tick();
    for (const jobId of running.ids()) {
      running.get(jobId)?.checkOutput();
      const isNew = running.get(jobId)?.waits(this.view.whyWaiting(jobId), scheduler.awaitedPlace(jobId));
      if (isNew) running.tellChanged(jobId);
    }
  }
}

const gracesOf = ({ graceMs, sourceGraceMs, spaceGraceMs }: DispatcherOptions) => ({
  ...(graceMs !== undefined && { graceMs }),
  ...(sourceGraceMs !== undefined && { sourceGraceMs }),
  ...(spaceGraceMs !== undefined && { spaceGraceMs }),
});

function systemTimer(ms: number, task: () => void): () => void {
  const timer = setInterval(task, ms);
  return () => clearInterval(timer);
}
