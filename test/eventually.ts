import { setTimeout as delay } from 'node:timers/promises';

/**
 * Between two questions. Short at first, because what is to be disturbed half-way is soon over; then longer, because a question is
 * work for this process and the one that is asked, and who waits for seconds waits for a timeout.
 */
const pauseMs = (waitedMs: number): number => Math.min(100, Math.max(20, waitedMs / 25));

/**
 * Asks until the answer is neither undefined nor false, and resolves with it. Rejects after `withinMs`, which is for a machine
 * that is very busy, never a wait for luck; an error of `ask` rejects at once.
 */
export async function eventually<T>(
  what: string,
  ask: () => Promise<T | undefined | false> | T | undefined | false,
  withinMs = 180_000,
): Promise<T> {
  const beginMs = performance.now();
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    const waitedMs = performance.now() - beginMs;
    if (waitedMs > withinMs) throw new Error(`Waited ${withinMs} ms for ${what}`);
    await delay(pauseMs(waitedMs));
  }
}
