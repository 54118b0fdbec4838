export interface MapAheadOptions<Result> {
  /** When it aborts, its reason is thrown at once, even while items or `act` hang. */
  signal?: AbortSignal;
  /** Takes each result under way that was not taken when the consumer stopped; `act` must never reject then. */
  discard?(result: Result): Promise<void>;
}

/**
 * Applies `act` to items in order and yields the results in order. Up to `ahead` actions are under way while the first
 * is awaited. That result is yielded as soon as it is ready, however long the next item takes. A result that needs no
 * waiting, with none under way before it, is yielded at once.
 */
export async function* mapAhead<Item, Result>(
  items: AsyncIterable<Item> | Iterable<Item>,
  ahead: number,
  act: (item: Item) => Promise<Result> | Result,
  { signal, discard }: MapAheadOptions<Result> = {},
): AsyncGenerator<Result, void, undefined> {
  const iterator = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
  /**
   * Rejects the present wait. A race with a single promise for all waits would keep memory for each item until the end
   * (670 bytes, measured).
   */
  let interrupt: ((reason: unknown) => void) | undefined;
  const onAbort = (): void => interrupt?.(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  const unlessAborted = <T>(awaited: T | Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      interrupt = reject;
      if (signal?.aborted) onAbort();
      else Promise.resolve(awaited).then(resolve, reject);
    });

  const underWay: (Promise<Result> | Result)[] = [];
  /** The next item, once it was requested. */
  let coming: ReturnType<typeof iterator.next> | undefined;
  let ended = false;
  try {
    signal?.throwIfAborted();
    for (;;) {
      while (!ended && underWay.length < ahead) {
        coming ??= iterator.next();
        // A finished result does not wait for a slow next item.
        if (coming instanceof Promise && underWay.length > 0) {
          if (await unlessAborted(isBefore(underWay[0], coming))) break;
        }
        const next = await unlessAborted(coming);
        coming = undefined;
        if (next.done) {
          ended = true;
        } else {
          const result = act(next.value);
          if (!(result instanceof Promise) && underWay.length === 0) {
            yield result;
            continue;
          }
          // Its failure is thrown when its turn comes; until then it must not count as unhandled.
          if (result instanceof Promise) result.catch(() => {});
          underWay.push(result);
        }
      }
      if (underWay.length === 0) return;
      const first = await unlessAborted(underWay[0]!);
      underWay.shift();
      yield first;
    }
  } finally {
    signal?.removeEventListener('abort', onAbort);
    // Not awaited: after an abort, the iterator may be in a step that never ends.
    if (!ended) void Promise.resolve(iterator.return?.()).catch(() => {});
    if (discard) for (const result of underWay) await discard(await result);
  }
}

/** Whether the result is ready, or has failed, before the item comes. */
function isBefore(result: unknown, item: Promise<unknown>): Promise<boolean> {
  const [no, yes] = [() => false, () => true];
  return Promise.race([item.then(no, no), Promise.resolve(result).then(yes, yes)]);
}
