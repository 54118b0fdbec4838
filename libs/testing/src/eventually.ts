import { setTimeout as delay } from 'node:timers/promises';
import { waitLimitMs } from './patience.ts';
import { within } from './within.ts';

/**
 * The pause before the next question, in milliseconds. Short at first, because the state that a test waits for may soon
 * be over; longer later, because each question is work for this process and the one that is asked.
 */
const pauseMs = (asked: number): number => Math.min(100, asked);

export interface EventuallyOptions {
  /** The longest wait; only for a wait whose end is the failure that a test shows. */
  limitMs?: number;
  /** An error of `ask` means "not yet" instead of ending the wait; the last one is the cause of the failure. */
  despiteErrors?: boolean;
}

/**
 * Asks until the answer is neither undefined nor false, and resolves with it. Rejects with what was waited for after
 * `limitMs` (see `within`), and with an error of `ask` at once unless `despiteErrors`.
 */
export async function eventually<T>(
  what: string,
  ask: () => Promise<T | undefined | false> | T | undefined | false,
  { limitMs = waitLimitMs, despiteErrors = false }: EventuallyOptions = {},
): Promise<T> {
  let isGivenUp = false;
  let last: unknown;
  async function poll(): Promise<T | undefined> {
    for (let asked = 1; !isGivenUp; asked++) {
      try {
        const answer = await ask();
        if (answer !== undefined && answer !== false) return answer;
      } catch (error) {
        if (!despiteErrors) throw error;
        last = error;
      }
      await delay(pauseMs(asked));
    }
    return undefined;
  }
  try {
    return (await within(what, poll(), limitMs)) as T;
  } catch (error) {
    if (last === undefined) throw error;
    throw new Error(`${(error as Error).message}: ${(last as Error).message ?? last}`, { cause: last });
  } finally {
    isGivenUp = true;
  }
}
