import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';

/**
 * Lets time pass: before a disturbance, or before a test checks that nothing has happened. Use it only if a longer or
 * shorter pause cannot make the test fail. To wait for an event, use `eventually` or `within`.
 */
export const pause = (ms: number): Promise<void> => delay(ms);

/** Lets the event loop turn, by default once: all that is ready to run in this process has run. */
export async function turns(count = 1): Promise<void> {
  for (let i = 0; i < count; i++) await turn();
}
