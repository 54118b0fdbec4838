import { setImmediate as endOfTurn } from 'node:timers/promises';
import { lackOf, type OutputLack } from '@halogrid/jobs/output-lack';
import type { Log } from '@halogrid/service';
import { type Pause, systemPause } from '@halogrid/service/system-pause';
import { LostLedgerError } from '../registry/ledger-errors.ts';
import { FencedError, type JobChange, type Registry } from '../registry/registry.ts';
import { HeldChanges } from './held-changes.ts';

/** Something whose changes a journal makes durable. */
export interface Journaled {
  /**
   * Writes its changes to its log, and resolves with the change for the registry, which makes them count. After a
   * failure it is called again. If it rejects with an error that `lackOf` knows, it may succeed later.
   */
  append(): Promise<readonly JobChange[]>;
}

export interface JournalOptions {
  /** Absent if one process after another leads a job: then only the log counts. */
  registry?: Registry | undefined;
  /** Guards every write of the registry. */
  epoch: number;
  log: Log;
  /** Called when the registry is lost: this process can only end. */
  lost?: (error: LostLedgerError) => void;
  /** Milliseconds of a clock that never goes back. */
  nowMs: () => number;
  /** Waits; uses the system's timers unless given. */
  pause?: Pause;
}

const firstRetryMs = 100;
const longestRetryMs = 5_000;

/** A registry that takes longer for a group may be stopped or cut off; its connection fails only much later. */
const silentMs = 5_000;

/**
 * Writes changes in groups. Each group goes to the log of every job in it, and then into one transaction for all of
 * these jobs. The first change is written at the end of the event loop's turn; changes that come while a group is being
 * written are the next group. So a quiet ledger has no delay, and a busy one writes many changes at once.
 *
 * A group that cannot be written is kept and tried again, with pauses that double up to 5 seconds, until it is written
 * or the journal is closed. Meanwhile nothing is acknowledged, so that waiting callers bound the changes in memory. If
 * the log of one job cannot be written for now, because its disk is full, its changes are held back and tried again
 * separately: other jobs go on.
 *
 * If the registry is lost, the promises of waiting callers never settle, so that nothing follows from them: no job
 * fails, and no node hears anything.
 */
export class Journal {
  readonly #options: JournalOptions;
  /** The changes of the next group, and the callers that wait for it. */
  #next = new Map<Journaled, PromiseWithResolvers<void>>();
  /** The group that is being written. */
  #current = new Map<Journaled, PromiseWithResolvers<void>>();
  #writing: Promise<void> | undefined;
  #startedMs = 0;
  #failure: string | undefined;
  /** Why the journal refuses changes. */
  #ended: Error | undefined;
  readonly #held: HeldChanges<Journaled>;
  /** Jobs whose changes could not be made durable: they are not written any more. */
  readonly #broken = new WeakMap<Journaled, Error>();
  readonly #closing = new AbortController();

  constructor(options: JournalOptions) {
    this.#options = options;
    const { pause = systemPause } = options;
    this.#held = new HeldChanges(
      (ms) => pause(ms, this.#closing.signal),
      (what, waiter) => {
        this.#next.set(what, waiter);
        this.#writing ??= this.#writeGroups();
      },
    );
  }

  /** The fencing number of its writes. */
  get epoch(): number {
    return this.#options.epoch;
  }

  /** Resolves when the current changes of `what` are durable. Rejects if they never will be. */
  write(what: Journaled): Promise<void> {
    const never = this.#ended ?? this.#broken.get(what);
    if (never instanceof LostLedgerError) return new Promise(() => {});
    if (never) return Promise.reject(never);
    const known = this.#next.get(what) ?? this.#held.waiter(what);
    if (known) return known.promise;
    const waiter = Promise.withResolvers<void>();
    this.#next.set(what, waiter);
    this.#writing ??= this.#writeGroups();
    return waiter.promise;
  }

  /** Resolves when the changes of earlier calls of `write` are durable; rejects as these do. */
  async written(what: Journaled): Promise<void> {
    if (this.#ended instanceof LostLedgerError) await new Promise(() => {});
    await (this.#next.get(what) ?? this.#held.waiter(what) ?? this.#current.get(what))?.promise;
  }

  /** Why the changes of `what` are held back; undefined if they are not. */
  lackOf(what: Journaled): OutputLack | undefined {
    return lackOf(this.#held.failure(what));
  }

  /**
   * Gives up the changes of `what` if they are held back: its callers' promises reject, and it is not written any more.
   */
  giveUp(what: Journaled): void {
    const failure = this.#held.failure(what);
    if (failure) this.#break(what, failure);
  }

  /** How long the oldest change has waited to be written, and why it is not written; 0 if none waits. */
  behind(): { ms: number; failure: string | undefined } {
    const ms = this.#writing ? this.#options.nowMs() - this.#startedMs : 0;
    return { ms, failure: this.#failure ?? (ms >= silentMs ? 'it does not answer' : undefined) };
  }

  /** From now on a refusal of the registry is final, because the waiting callers are about to end. */
  stopRetrying(): void {
    this.#closing.abort();
    this.#held.close();
  }

  /**
   * Writes what it can, and accepts nothing more. Changes that cannot be written now are dropped: they were not
   * acknowledged.
   */
  async close(): Promise<void> {
    this.stopRetrying();
    // A change that came while the last group was ending begins another.
    while (this.#writing) await this.#writing;
    this.#ended ??= new Error('The ledger is closed');
  }

  async #writeGroups(): Promise<void> {
    while (this.#next.size > 0 && !this.#ended) {
      this.#startedMs = this.#options.nowMs();
      // All changes of one turn of the event loop go together, also if the registry answers at once.
      await endOfTurn();
      this.#current = this.#next;
      this.#next = new Map();
      try {
        await this.#writeGroup();
      } catch (error) {
        this.#end(error as Error);
      }
      this.#current = new Map();
    }
    this.#writing = undefined;
  }

  async #writeGroup(): Promise<void> {
    const group = this.#current;
    const appended = await Promise.all(
      [...group].map(async ([what, waiter]) => {
        try {
          return { what, waiter, changes: await what.append() };
        } catch (error) {
          this.#notAppended(what, waiter, error as Error);
          return undefined;
        }
      }),
    );
    // In the order of the calls, whichever disk was first.
    const written = appended.filter((one) => one !== undefined);
    if (written.length === 0) return;
    await this.#tellRegistry(written.flatMap(({ changes }) => changes));
    this.#recovered();
    for (const { what, waiter } of written) {
      this.#held.release(what);
      waiter.resolve();
    }
  }

  #notAppended(what: Journaled, waiter: PromiseWithResolvers<void>, error: Error): void {
    if (!lackOf(error) || this.#broken.has(what) || this.#closing.signal.aborted) {
      waiter.reject(error);
      this.#break(what, error);
      return;
    }
    this.#next.get(what)?.resolve(waiter.promise);
    this.#next.delete(what);
    this.#held.hold(what, { waiter, failure: error });
  }

  async #tellRegistry(changes: readonly JobChange[]): Promise<void> {
    const { registry, pause = systemPause } = this.#options;
    for (let retryMs = firstRetryMs; registry; retryMs = Math.min(2 * retryMs, longestRetryMs)) {
      try {
        return await registry.write(this.epoch, changes);
      } catch (error) {
        if (error instanceof FencedError || error instanceof LostLedgerError || this.#closing.signal.aborted)
          throw error;
        this.#failed(error as Error);
      }
      await pause(retryMs, this.#closing.signal);
    }
  }

  /** Rejects the promises of `what`, which is not written any more. */
  #break(what: Journaled, error: Error): void {
    this.#broken.set(what, error);
    for (const waiter of [this.#next.get(what), this.#held.waiter(what)]) waiter?.reject(error);
    this.#next.delete(what);
    this.#held.release(what);
  }

  #failed({ message }: Error): void {
    if (this.#failure === undefined)
      this.#options.log.error({ notice: true }, `The ledger cannot be written, and is tried again: ${message}`);
    this.#failure = message;
  }

  #recovered(): void {
    if (this.#failure === undefined) return;
    this.#failure = undefined;
    const seconds = ((this.#options.nowMs() - this.#startedMs) / 1000).toFixed(1);
    this.#options.log.warn({ notice: true }, `The ledger is written again, after ${seconds} seconds`);
  }

  #end(error: Error): void {
    this.#ended = error;
    if (error instanceof LostLedgerError) {
      this.#next.clear();
      this.#held.stop();
      this.#options.lost?.(error);
      return;
    }
    for (const waiter of [...this.#current.values(), ...this.#next.values()]) waiter.reject(error);
    this.#next.clear();
    this.#held.close(error);
  }
}
