/** Samples before the first that is timed. */
export const warmUps = 2;

export interface SamplingOptions {
  /** Timed samples. */
  repetitions: number;
  /** No further sample is begun once those timed have taken this long; unlimited unless given. */
  withinMs?: number;
}

/** Milliseconds that `sample` returns, after warm-ups whose times nobody wants: one at least. Rejects as `sample` does. */
export async function takeSamples(
  { repetitions, withinMs = Infinity }: SamplingOptions,
  sample: (isWarmUp: boolean) => number | Promise<number>,
): Promise<number[]> {
  for (let i = 0; i < warmUps; i++) await sample(true);
  const samplesMs: number[] = [];
  let spentMs = 0;
  while (samplesMs.length < repetitions && spentMs <= withinMs) {
    const ms = await sample(false);
    samplesMs.push(ms);
    spentMs += ms;
  }
  return samplesMs;
}
