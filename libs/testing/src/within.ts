import { countedMs, waitLimitMs } from './patience.ts';

// Kept here, because tests replace the global functions with mock timers.
const { setInterval, clearInterval } = globalThis;

const periodMs = 100;

/**
 * Resolves or rejects as `promise` does. Rejects with `what` was waited for after `limitMs` of time in which the
 * machine let this process run. Give a limit only for a wait whose end is the failure that the test shows.
 */
export async function within<T>(what: string, promise: PromiseLike<T>, limitMs = waitLimitMs): Promise<T> {
  const late = Promise.withResolvers<never>();
  let waitedMs = 0;
  let lastMs = performance.now();
  const timer = setInterval(() => {
    const nowMs = performance.now();
    waitedMs += countedMs(nowMs - lastMs, periodMs);
    lastMs = nowMs;
    if (waitedMs >= limitMs) late.reject(new Error(`Waited ${Math.round(waitedMs)} ms for ${what}`));
  }, periodMs);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearInterval(timer);
  }
}
