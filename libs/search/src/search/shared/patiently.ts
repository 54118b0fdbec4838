import { setTimeout as delay } from 'node:timers/promises';

export interface Otherwise<Answer> {
  /** How long the first is waited for alone. */
  patienceMs: number;
  /**
   * Asked where the first fails, or is late. What it gives is of no use once the signal aborts: the first has answered
   * after all.
   */
  other(signal: AbortSignal): Promise<Answer>;
  /** Told why, in one sentence, before that. */
  note(why: string): void;
}

/**
 * What the first gives in time; else what the first or the other gives, whichever answers before. Rejects where the
 * other does.
 */
export async function patiently<Answer>(
  first: Promise<Answer>,
  { patienceMs, other, note }: Otherwise<Answer>,
): Promise<Answer> {
  const [stopWaiting, stopOther] = [new AbortController(), new AbortController()];
  const late = delay(patienceMs, 'late' as const, { signal: stopWaiting.signal });
  late.catch(() => {});
  const answered = first.then(
    (answer) => ({ answer }),
    (error: Error) => ({ error }),
  );
  const soon = await Promise.race([answered, late]);
  stopWaiting.abort();
  if (soon !== 'late' && 'answer' in soon) return soon.answer;
  note(soon === 'late' ? 'It has not answered in time' : soon.error.message);
  const theirs = other(stopOther.signal);
  const answer = await Promise.race([first.catch(() => theirs), theirs]);
  stopOther.abort();
  return answer;
}
