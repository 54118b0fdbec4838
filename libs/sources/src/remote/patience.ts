import { AsyncLocalStorage } from 'node:async_hooks';
import type { RemoteTarget } from './remote-target.ts';
import type { TransferError } from './transfer-error.ts';
import type { TransferFault } from './transfer-fault.ts';

/** Decides whether a request waits for a host that is away. */
export interface Patience {
  /** The host has answered; `isHad`: with the requested object. */
  answered(target: RemoteTarget, isHad: boolean): void;
  /**
   * A request has failed as if its host or bucket were away or closed. Resolves with true when the request is to be
   * sent again, and with false if the target itself is at fault. `look` requests another target and returns its fault.
   * Rejects after waiting long enough.
   */
  outlasts(
    target: RemoteTarget,
    error: TransferError,
    look: (other: RemoteTarget) => Promise<TransferFault | undefined>,
  ): Promise<boolean>;
}

const patience = new AsyncLocalStorage<Patience>();

/** The patience of the running caller; undefined if it does not wait for hosts. */
export const currentPatience = (): Patience | undefined => patience.getStore();

/** The same items. Requests that the generator makes wait for hosts that are away. */
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
    // Not awaited: the generator may be waiting for a host.
    void items.return(undefined).catch(() => {});
  }
}
