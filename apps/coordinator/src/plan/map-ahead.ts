/**
 * Applies `act` to items in order and yields the results in order, with up to `ahead` of them under way while the first is
 * awaited. Throws the signal's reason as soon as `signal` aborts, even while `items` or `act` hang.
 */
export async function* mapAhead<Item, Result>(
  items: AsyncIterable<Item> | Iterable<Item>,
  ahead: number,
  act: (item: Item) => Promise<Result>,
  signal?: AbortSignal,
): AsyncGenerator<Result> {
  const iterator = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
  const abort = Promise.withResolvers<never>();
  abort.promise.catch(() => {});
  const onAbort = (): void => abort.reject(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });

  const underWay: Promise<Result>[] = [];
  let ended = false;
  try {
    signal?.throwIfAborted();
    for (;;) {
      while (!ended && underWay.length < ahead) {
        const next = await Promise.race([iterator.next(), abort.promise]);
        if (next.done) {
          ended = true;
        } else {
          const result = act(next.value);
          // Its failure is thrown when its turn comes; until then it must not count as unhandled.
          result.catch(() => {});
          underWay.push(result);
        }
      }
      if (underWay.length === 0) return;
      const first = await Promise.race([underWay[0]!, abort.promise]);
      underWay.shift();
      yield first;
    }
  } finally {
    signal?.removeEventListener('abort', onAbort);
    // Not awaited: after an abort, the iterator may be in a step that never ends.
    if (!ended) void Promise.resolve(iterator.return?.()).catch(() => {});
  }
}
