/**
 * As Promise.all, but rejects only after every promise has settled, so that nothing is still using what they shared.
 */
export async function settleAll<T>(promises: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}

/**
 * Runs `work`, which hands over pieces that it began, two of which run at once: handing one over waits until the one
 * before it is done. Settles after all of them.
 */
export async function twoAtOnce(
  work: (handOver: (piece: Promise<void>) => Promise<void>) => Promise<void>,
): Promise<void> {
  const running: Promise<void>[] = [];
  try {
    await work(async (piece) => {
      // It is rejected with below, at the latest.
      piece.catch(() => {});
      running.push(piece);
      await running.at(-2);
    });
  } finally {
    await Promise.allSettled(running);
  }
  await Promise.all(running);
}
