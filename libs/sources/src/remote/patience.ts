import { AsyncLocalStorage } from 'node:async_hooks';
import type { RemoteTarget } from './remote-target.ts';
import type { TransferError } from './transfer-error.ts';
import type { TransferFault } from './transfer-fault.ts';

/** What somebody has who waits for hosts that are away. */
export interface Patience {
  /** There is an answer; `isHad`: with what was asked for. */
  answered(target: RemoteTarget, isHad: boolean): void;
  /**
   * The request failed as those of a host or bucket that is away or closed do. Resolves with true when the same is to be asked for again, and with
   * false where the target is at fault. `look` says how a request to another one fails. Rejects where it was waited long enough.
   */
  outlasts(
    target: RemoteTarget,
    error: TransferError,
    look: (other: RemoteTarget) => Promise<TransferFault | undefined>,
  ): Promise<boolean>;
}

const patience = new AsyncLocalStorage<Patience>();

/** That of whoever asks now; undefined where nobody waits. */
export const currentPatience = (): Patience | undefined => patience.getStore();

/** The same items, for which whatever is asked of hosts is waited for. */
export async function* withPatience<Item>(
  given: Patience,
  items: AsyncGenerator<Item>,
): AsyncGenerator<Item, void, undefined> {
  try {
    for (;;) {
      const next = await patience.run(given, () => items.next());
      if (next.done) return;
      yield next.value;
    }
  } finally {
    // Not awaited: what it is in may wait for a host.
    void items.return(undefined).catch(() => {});
  }
}
