/**
 * The results of `start` for every item, in the items' order, with up to `ahead` of them started before they are asked
 * for. `start` never rejects. Results that were started and are not taken go to `discard`.
 */
export async function* startAhead<Item, Result>(
  items: readonly Item[],
  ahead: number,
  start: (item: Item) => Promise<Result>,
  discard: (result: Result) => Promise<void>,
): AsyncGenerator<Result, void, undefined> {
  const started: Promise<Result>[] = [];
  let next = 0;
  try {
    while (next < items.length || started.length > 0) {
      while (next < items.length && started.length < ahead) started.push(start(items[next++]!));
      const result = await started[0]!;
      started.shift();
      yield result;
    }
  } finally {
    for (const result of started) await discard(await result);
  }
}

/** As Promise.all, but rejects only after every promise has settled, so that nothing is still using what they shared. */
export async function settleAll<T>(promises: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}
