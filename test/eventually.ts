import { setTimeout as delay } from 'node:timers/promises';

/** Between two questions. */
const pauseMs = 20;

/**
 * Asks until the answer is neither undefined nor false, and resolves with it. Rejects after `withinMs`, which is for a machine
 * that is very busy, never a wait for luck; an error of `ask` rejects at once.
 */
export async function eventually<T>(
  what: string,
  ask: () => Promise<T | undefined | false> | T | undefined | false,
  withinMs = 180_000,
): Promise<T> {
  const deadlineMs = performance.now() + withinMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (performance.now() > deadlineMs) throw new Error(`Waited ${withinMs} ms for ${what}`);
    await delay(pauseMs);
  }
}
