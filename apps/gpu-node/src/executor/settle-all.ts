/** As Promise.all, but rejects only after every promise has settled, so that nothing is still using what they shared. */
export async function settleAll<T>(promises: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}
