import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';

/**
 * Lets time pass: before a disturbance at some moment, or before a test looks that nothing has happened. Only where a
 * machine that makes it longer or shorter cannot make the test fail; what is to happen is waited for with `eventually`
 * or `within`.
 */
export const pause = (ms: number): Promise<void> => delay(ms);

/** Lets the event loop turn, by default once: all that is ready to run in this process has run. */
export async function turns(count = 1): Promise<void> {
  for (let i = 0; i < count; i++) await turn();
}
