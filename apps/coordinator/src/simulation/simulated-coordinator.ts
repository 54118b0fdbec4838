import type { Log } from '@halogrid/service';
import { Dispatcher } from '../dispatch/dispatcher.ts';
import type { JobWork } from '../dispatch/job-run.ts';
import type { Metrics } from '../dispatch/work-metrics.ts';
import { DurableLedger } from '../ledger/durable-ledger.ts';
import type { OpenSpool } from '../ledger/job-sums.ts';
import { Journal } from '../ledger/journal.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { simulatedEyes } from './simulated-files.ts';
import { SimulatedStore, type StoreWorld } from './simulated-store.ts';
import type { VirtualClock } from './virtual-clock.ts';

export interface CoordinatorWorld extends StoreWorld {
  openSpool: OpenSpool;
  work: JobWork;
  reportWithinMs: number;
  metrics: Metrics;
  log: Log;
  /** Watches what the ledger is told. */
  observe: (ledger: Ledger) => Ledger;
}

/** One process of a coordinator: the real dispatcher, scheduler and ledger, from when it leads until it dies. */
export class SimulatedCoordinator {
  readonly dispatcher: Dispatcher;
  readonly ledger: DurableLedger;
  readonly #store: SimulatedStore;
  #state: 'running' | 'paused' | 'dead' = 'running';
  /** What happened to it while it stood still. */
  #late: (() => void)[] = [];
  #wake: () => void = () => {};

  private constructor(ledger: DurableLedger, store: SimulatedStore, world: CoordinatorWorld) {
    const { work, clock, reportWithinMs, metrics, log } = world;
    this.ledger = ledger;
    this.#store = store;
    this.dispatcher = new Dispatcher({
      ledger: world.observe(ledger),
      work,
      clock,
      reportWithinMs,
      metrics,
      log,
      eyes: simulatedEyes,
      every: (ms, task) => clock.every(ms, () => this.tell(task)),
    });
  }

  /** Takes the store over and knows the jobs in it. Rejects with one sentence where that is damaged. */
  static async start(world: CoordinatorWorld): Promise<SimulatedCoordinator> {
    const store = new SimulatedStore(world);
    const { clock, log, openSpool } = world;
    // A lease that has ended at once leaves the way to the next one free.
    const epoch = (await store.acquire('simulated', 0))!;
    const journal = new Journal({
      store,
      epoch,
      log,
      nowMs: () => clock.monotonicMs(),
      pause: (ms, signal) => pauseOf(clock, ms, signal),
    });
    const ledger = new DurableLedger({ epoch, homeOf: async () => ({ journal }), openSpool });
    await ledger.load({ journal });
    return new SimulatedCoordinator(ledger, store, world);
  }

  get isRunning(): boolean {
    return this.#state === 'running';
  }

  /** Has something happen to it; later where it stands still, and never where it is dead. */
  tell(happen: () => void): void {
    if (this.#state === 'running') happen();
    else if (this.#state === 'paused') this.#late.push(happen);
  }

  /** It stands still, as with SIGSTOP. */
  pause(): void {
    this.#state = 'paused';
    this.#store.running = new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  wake(): void {
    this.#state = 'running';
    this.#wake();
    for (const happen of this.#late.splice(0)) happen();
  }

  /** It ends at once: whatever it was doing is not done. Resolves when nothing of it is left, not even open files. */
  async kill(): Promise<void> {
    this.#state = 'dead';
    this.#store.isDead = true;
    this.#wake();
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
