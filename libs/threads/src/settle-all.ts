/**
 * Like Promise.all, but rejects only after every promise has settled, so that nothing uses shared resources any more.
 */
export async function settleAll<T>(promises: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}

/**
 * Runs `work`, which starts pieces of work and hands each to `handOver`. Two pieces run at once: handing over a piece
 * waits until the one before it has ended. Settles after all pieces.
 */
export async function twoAtOnce(
  work: (handOver: (piece: Promise<void>) => Promise<void>) => Promise<void>,
): Promise<void> {
  const running: Promise<void>[] = [];
  try {
    await work(async (piece) => {
      // A rejection is passed on below, at the latest.
      piece.catch(() => {});
      running.push(piece);
      await running.at(-2);
    });
  } finally {
    await Promise.allSettled(running);
  }
  await Promise.all(running);
}
