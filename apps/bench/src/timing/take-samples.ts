/** The least number of samples before the first timed one. */
export const warmUps = 2;

export interface SamplingOptions {
  /** Timed samples. */
  repetitions: number;
  /** Once the timed samples have taken this long, no further one begins; unlimited unless given. */
  withinMs?: number;
  /** The least time of all warm-ups together; 0 unless given. */
  warmUpMs?: number;
}

/**
 * Calls `sample` for warm-ups and then for timed samples. Resolves with the milliseconds of the latter, at least one.
 * Rejects as `sample` does.
 */
export async function timeSamples(
  { repetitions, withinMs = Infinity, warmUpMs = 0 }: SamplingOptions,
  sample: (isWarmUp: boolean) => number | Promise<number>,
): Promise<number[]> {
  let warmMs = 0;
  for (let i = 0; i < warmUps || warmMs < warmUpMs; i++) warmMs += await sample(true);
  const samplesMs: number[] = [];
  let spentMs = 0;
  while (samplesMs.length < repetitions && spentMs <= withinMs) {
    const ms = await sample(false);
    samplesMs.push(ms);
    spentMs += ms;
  }
  return samplesMs;
}
