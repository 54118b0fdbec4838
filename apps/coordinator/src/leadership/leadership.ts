import type { Log } from '@halogrid/service';
import { LostLedgerError } from '../registry/ledger-errors.ts';
import { FencedError, type JobChange, type Registry } from '../registry/registry.ts';
import { askEveryMs, keepLease, type LeaseEvent, type LeaseState, leaseMs, startLeadership } from './lease-keeping.ts';

export interface LeadershipOptions {
  store: Registry;
  /** Names this process for people. */
  holder: string;
  /** A clock that never goes back. */
  nowMs: () => number;
  log: Log;
}

/** Asks the store for the lease until this process leads, and keeps it as long as it lives. */
export class Leadership {
  /** Resolves with the epoch once this process leads. */
  readonly led: Promise<number>;
  /** Resolves with one sentence once it leads no more, or can lead no more: it may do nothing then but end. */
  readonly lost: Promise<string>;
  /** What the ledger writes to. A write that is fenced never settles, because nothing may follow from it any more. */
  readonly store: Registry;

  readonly #options: LeadershipOptions;
  readonly #led = Promise.withResolvers<number>();
  readonly #lost = Promise.withResolvers<string>();
  #state: LeaseState;
  #timer: NodeJS.Timeout | undefined;
  /** The answer that is awaited. */
  #question: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: LeadershipOptions) {
    this.#options = options;
    this.led = this.#led.promise;
    this.lost = this.#lost.promise;
    this.#state = startLeadership(options.nowMs());
    this.store = this.#guard(options.store);
    this.#question = this.#ask();
  }

  /** Why this process does not lead, in one sentence; undefined while it does. */
  get standby(): string | undefined {
    const state = this.#state;
    if (state.kind === 'leading') return undefined;
    return state.kind === 'lost' ? state.reason : `Standby: ${state.why}`;
  }

  /** The epoch that this process leads or led with, or else that of the leader it last heard of; 0 for none. */
  get epoch(): number {
    return this.#state.epoch;
  }

  /** The ledger is lost, for this sentence's reason. */
  end(reason: string): void {
    this.#handle({ kind: 'ended', reason });
  }

  /** Asks no more, and lets a successor lead at once. To be called when everything that writes has ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#question;
    const { store, log } = this.#options;
    if (this.#state.kind !== 'leading') return;
    await store
      .release(this.#state.epoch)
      .catch((error: Error) => log.warn(`The lease was not given up: ${error.message}`));
  }

  async #ask(): Promise<void> {
    const { store, holder, nowMs } = this.#options;
    const askedMs = nowMs();
    try {
      if (this.#state.kind === 'leading') {
        const { epoch } = this.#state;
        const isRenewed = await store.renew(epoch, leaseMs);
        this.#handle(isRenewed ? { kind: 'renewed', askedMs } : { kind: 'fenced', leader: await store.leader() });
      } else {
        const epoch = await store.acquire(holder, leaseMs);
        if (epoch === undefined) this.#handle({ kind: 'occupied', leader: await store.leader() });
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
      // A question that hangs is not put again, and may be the reason to give up.
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

  #guard(store: Registry): Registry {
    return {
      ...(store.shares && { shares: store.shares }),
      acquire: (holder, ms) => store.acquire(holder, ms),
      renew: (epoch, ms) => store.renew(epoch, ms),
      release: (epoch) => store.release(epoch),
      leader: () => store.leader(),
      jobs: (ids) => store.jobs(ids),
      write: (epoch, changes) => this.#write(epoch, changes),
      close: () => store.close(),
    };
  }

  async #write(epoch: number, changes: readonly JobChange[]): Promise<void> {
    const { store } = this.#options;
    try {
      await store.write(epoch, changes);
    } catch (error) {
      if (!(error instanceof FencedError)) throw error;
      this.#handle({ kind: 'fenced', leader: await store.leader().catch(() => undefined) });
      await new Promise<never>(() => {});
    }
  }
}
