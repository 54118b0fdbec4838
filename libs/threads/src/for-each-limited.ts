/**
 * Calls `act` for every item, up to `limit` at once; items are taken as they are needed. After a failure no more are
 * begun. Rejects with the first failure once nothing is under way.
 */
export async function forEachLimited<Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  limit: number,
  act: (item: Item) => Promise<void>,
): Promise<void> {
  const iterator = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
  const failures: unknown[] = [];
  const work = async (): Promise<void> => {
    try {
      for (let next = await iterator.next(); !next.done && failures.length === 0; next = await iterator.next()) {
        await act(next.value);
      }
    } catch (error) {
      failures.push(error);
    }
  };
  await Promise.all(Array.from({ length: limit }, work));
  if (failures.length > 0) throw failures[0];
}
