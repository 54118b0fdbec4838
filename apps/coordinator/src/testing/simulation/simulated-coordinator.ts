import type { AcceptedJob } from '@halogrid/jobs/accepted-job';
import { askEveryMs, leaseMs, SharedJobs } from '@halogrid/leadership';
import { Journal, type Ledger, type LogHome, LogLedger } from '@halogrid/ledger';
import { memoryParts } from '@halogrid/ledger/testing-memory-parts';
import type { Log } from '@halogrid/service';
import { Dispatcher } from '../../dispatch/dispatcher.ts';
import type { JobWork } from '../../dispatch/job-work.ts';
import type { Metrics } from '../../dispatch/work-metrics.ts';
import { type FullDisk, type Outage, simulatedEyes } from './simulated-files.ts';
import { type RegistryWorld, SimulatedRegistry } from './simulated-registry.ts';
import type { VirtualClock } from './virtual-clock.ts';

export interface CoordinatorWorld extends RegistryWorld {
  logsOf: LogHome['logsOf'];
  work: JobWork;
  /** Disks that are full. */
  full: FullDisk[];
  /** Hosts that are away. */
  outages: Outage[];
  reportWithinMs: number;
  metrics: Metrics;
  log: Log;
  /** Wraps the ledger to watch its calls. */
  observe: (ledger: Ledger) => Ledger;
  /** If several coordinators lead: called when others have taken the jobs of this one, which ends. */
  fenced?: (coordinator: SimulatedCoordinator) => void;
  /** If several coordinators lead: gives a submitted job. */
  acceptedJob?: (jobId: string) => AcceptedJob;
}

/** One process of a coordinator: the real dispatcher, scheduler and ledger, from its lead to its death. */
export class SimulatedCoordinator {
  readonly dispatcher: Dispatcher;
  readonly ledger: LogLedger;
  readonly #registry: SimulatedRegistry;
  #state: 'running' | 'paused' | 'dead' = 'running';
  /** Events that came while it stood still. */
  #late: (() => void)[] = [];
  #wake: () => void = () => {};
  #shared: SharedJobs | undefined;
  #stopRenewing: () => void = () => {};

  private constructor(ledger: LogLedger, registry: SimulatedRegistry, world: CoordinatorWorld, shared?: SharedJobs) {
    const { work, clock, reportWithinMs, metrics, log } = world;
    this.ledger = ledger;
    this.#registry = registry;
    this.dispatcher = new Dispatcher({
      ledger: world.observe(ledger),
      work,
      clock,
      reportWithinMs,
      metrics,
      log,
      eyes: simulatedEyes(world.outages, world.full, () => clock.monotonicMs()),
      pause: (ms, signal) => pauseOf(clock, ms, signal),
      every: (ms, task) => clock.every(ms, () => this.tell(task)),
      others: shared,
    });
  }

  /** Takes over the registry with its jobs. Rejects with one sentence if it is damaged. */
  static async start(world: CoordinatorWorld): Promise<SimulatedCoordinator> {
    const registry = new SimulatedRegistry(world);
    const { clock, log, logsOf } = world;
    // If one coordinator leads at a time, its lease ends at once, so that the next one can take over.
    const epoch = (await registry.acquire('simulated', registry.shares ? leaseMs : 0))!;
    const journal = new Journal({
      registry,
      epoch,
      log,
      nowMs: () => clock.monotonicMs(),
      pause: (ms, signal) => pauseOf(clock, ms, signal),
    });
    const home: LogHome = { journal, registry, logsOf, partsOf: memoryParts };
    const homeOf = async () => home;
    if (!registry.shares) {
      const ledger = new LogLedger({ epoch, homeOf });
      await ledger.load(home);
      return new SimulatedCoordinator(ledger, registry, world);
    }
    const nowMs = () => clock.monotonicMs();
    let isLost = false;
    const shared = new SharedJobs({
      registry,
      shares: registry.shares,
      epoch,
      log,
      nowMs,
      lost: () => {},
      after: (ms, task) => {
        let isCancelled = false;
        clock.after(ms, () => isCancelled || coordinator.tell(task));
        return () => {
          isCancelled = true;
        };
      },
    });
    const ledger = new LogLedger({ epoch, homeOf, others: shared });
    const coordinator: SimulatedCoordinator = new SimulatedCoordinator(ledger, registry, world, shared);
    coordinator.#shared = shared;
    coordinator.#stopRenewing = clock.every(askEveryMs, () => {
      coordinator.tell(() => {
        if (isLost || world.failure) return;
        void registry.renew(epoch, leaseMs).then((isRenewed) => {
          isLost = !isRenewed;
          if (isLost) world.fenced?.(coordinator);
        });
      });
    });
    const { dispatcher } = coordinator;
    void shared.start({
      has: (jobId) => ledger.has(jobId),
      takeUp: async ({ jobId, epoch }) => {
        const record = await ledger.adopt(home, jobId, epoch);
        if (record)
          await dispatcher.jobs.resume(
            world.acceptedJob!(jobId),
            dispatcher.view.nodes().length > 0 ? 2000 : undefined,
          );
      },
      cancel: (jobId) => void dispatcher.jobs.cancel(jobId),
      now: () => dispatcher.view.jobsNow(),
    });
    return coordinator;
  }

  get isRunning(): boolean {
    return this.#state === 'running';
  }

  /** Has something happen to it: later if it stands still, never if it is dead. */
  tell(happen: () => void): void {
    if (this.#state === 'running') happen();
    else if (this.#state === 'paused') this.#late.push(happen);
  }

  /** It stands still, as with SIGSTOP. If it does already, it goes on when it would have. */
  pause(): void {
    if (this.#state !== 'running') return;
    this.#state = 'paused';
    this.#registry.running = new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  wake(): void {
    this.#wake();
    if (this.#state !== 'paused') return;
    this.#state = 'running';
    for (const happen of this.#late.splice(0)) happen();
  }

  /** It ends at once, and drops the work it was doing. Resolves when nothing of it is left, not even open files. */
  async kill(): Promise<void> {
    this.#state = 'dead';
    this.#registry.isDead = true;
    this.#wake();
    this.#stopRenewing();
    await this.#shared?.close();
    // Otherwise writes to a full disk would be repeated until there is room.
    this.ledger.stopRetrying();
    await this.dispatcher.close();
    await this.ledger.close();
  }
}

function pauseOf(clock: VirtualClock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    clock.after(ms, resolve);
    signal.addEventListener('abort', () => resolve());
    if (signal.aborted) resolve();
  });
}
