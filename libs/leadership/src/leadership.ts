import { FencedError, type JobChange, LostLedgerError, type Registry } from '@halogrid/ledger';
import type { Log } from '@halogrid/service';
import { askEveryMs, keepLease, type LeaseEvent, type LeaseState, leaseMs, startLeadership } from './lease-keeping.ts';

export interface LeadershipOptions {
  registry: Registry;
  /** Names this process for people. */
  holder: string;
  /** A clock that never goes back. */
  nowMs: () => number;
  log: Log;
}

/** Asks the registry for the lease until this process leads, and then renews it until the process ends. */
export class Leadership {
  /** Resolves with the epoch once this process leads. */
  readonly led: Promise<number>;
  /** Resolves with one sentence once this process no longer leads, or can never lead. Then it can only end. */
  readonly lost: Promise<string>;
  /** The registry for the ledger. A fenced write never settles, so that nothing follows from it. */
  readonly registry: Registry;

  readonly #options: LeadershipOptions;
  readonly #led = Promise.withResolvers<number>();
  readonly #lost = Promise.withResolvers<string>();
  #state: LeaseState;
  #timer: NodeJS.Timeout | undefined;
  /** The question whose answer is awaited. */
  #question: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: LeadershipOptions) {
    this.#options = options;
    this.led = this.#led.promise;
    this.lost = this.#lost.promise;
    this.#state = startLeadership(options.nowMs());
    this.registry = this.#guard(options.registry);
    this.#question = this.#ask();
  }

  /** Why this process does not lead, in one sentence; undefined while it does. */
  get standby(): string | undefined {
    const state = this.#state;
    if (state.kind === 'leading') return undefined;
    return state.kind === 'lost' ? state.reason : `Standby: ${state.why}`;
  }

  /**
   * The epoch with which this process leads or led, or the epoch of the leader it last heard of; 0 if there is none.
   */
  get epoch(): number {
    return this.#state.epoch;
  }

  /** Ends leadership because the ledger is lost; `reason` is a sentence. */
  end(reason: string): void {
    this.#handle({ kind: 'ended', reason });
  }

  /** Stops asking, and lets a successor lead at once. Call it when everything that writes has ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#question;
    const { registry, log } = this.#options;
    if (this.#state.kind !== 'leading') return;
    await registry
      .release(this.#state.epoch)
      .catch((error: Error) => log.warn(`The lease was not given up: ${error.message}`));
  }

  async #ask(): Promise<void> {
    const { registry, holder, nowMs } = this.#options;
    const askedMs = nowMs();
    try {
      if (this.#state.kind === 'leading') {
        const { epoch } = this.#state;
        const isRenewed = await registry.renew(epoch, leaseMs);
        this.#handle(isRenewed ? { kind: 'renewed', askedMs } : { kind: 'fenced', leader: await registry.leader() });
      } else {
        const epoch = await registry.acquire(holder, leaseMs);
        if (epoch === undefined) this.#handle({ kind: 'occupied', leader: await registry.leader() });
        else this.#handle({ kind: 'acquired', epoch, askedMs });
      }
    } catch (error) {
      const { message } = error as Error;
      if (error instanceof LostLedgerError) this.end(message);
      else this.#handle({ kind: 'failed', error: message });
    }
    this.#question = undefined;
    this.#wait();
  }

  #handle(event: LeaseEvent): void {
    const before = this.#state;
    this.#state = keepLease(before, event, this.#options.nowMs());
    this.#tell(before);
  }

  #wait(): void {
    clearTimeout(this.#timer);
    const state = this.#state;
    if (this.#isClosed || state.kind === 'lost') return;
    const delayMs = this.#question ? askEveryMs : Math.max(0, state.askAtMs - this.#options.nowMs());
    this.#timer = setTimeout(() => {
      // A question that hangs is not repeated; its delay may be the reason to give up.
      if (this.#question) this.#handle({ kind: 'timePassed' });
      else this.#question = this.#ask();
      this.#wait();
    }, delayMs);
  }

  #tell(before: LeaseState): void {
    const { log } = this.#options;
    const state = this.#state;
    switch (state.kind) {
      case 'standby':
        if (before.kind === 'standby' && before.why !== state.why) log.info(`${this.standby}`);
        break;
      case 'leading':
        if (before.kind === 'standby') log.info({ epoch: state.epoch }, 'This coordinator leads');
        this.#led.resolve(state.epoch);
        break;
      case 'lost':
        this.#lost.resolve(state.reason);
        break;
    }
  }

  #guard(registry: Registry): Registry {
    return {
      shares: registry.shares,
      acquire: (holder, ms) => registry.acquire(holder, ms),
      renew: (epoch, ms) => registry.renew(epoch, ms),
      release: (epoch) => registry.release(epoch),
      leader: () => registry.leader(),
      jobs: (ids) => registry.jobs(ids),
      write: (epoch, changes) => this.#write(epoch, changes),
      writeHistories: (epoch, histories) => registry.writeHistories(epoch, histories),
      history: (jobId) => registry.history(jobId),
      close: () => registry.close(),
    };
  }

  async #write(epoch: number, changes: readonly JobChange[]): Promise<void> {
    const { registry } = this.#options;
    try {
      await registry.write(epoch, changes);
    } catch (error) {
      if (!(error instanceof FencedError)) throw error;
      this.#handle({ kind: 'fenced', leader: await registry.leader().catch(() => undefined) });
      await new Promise<never>(() => {});
    }
  }
}
