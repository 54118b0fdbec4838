/** Samples before the first that is timed, at least. */
export const warmUps = 2;

export interface SamplingOptions {
  /** Timed samples. */
  repetitions: number;
  /** No further sample is begun once those timed have taken this long; unlimited unless given. */
  withinMs?: number;
  /** What warm-ups take together at least; 0 unless given. */
  warmUpMs?: number;
}

/**
 * Milliseconds that `sample` returns, after warm-ups whose times nobody wants: one at least. Rejects as `sample` does.
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
