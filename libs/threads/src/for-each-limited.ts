/** Does `work` for every item, `width` at a time. Rejects with the first failure, when nothing is under way any more. */
export async function runParallel<Item>(
  items: readonly Item[],
  width: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  let next = 0;
  let hasFailed = false;
  const workers = Array.from({ length: Math.min(width, items.length) }, async () => {
    while (next < items.length && !hasFailed) {
      await work(items[next++]!).catch((error: unknown) => {
        hasFailed = true;
        throw error;
      });
    }
  });
  const failure = (await Promise.allSettled(workers)).find((result) => result.status === 'rejected');
  if (failure) throw failure.reason;
}
