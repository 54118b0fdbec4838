import { setTimeout as delay } from 'node:timers/promises';

export interface Otherwise<Answer> {
  /** Milliseconds to wait for the first answer alone. */
  patienceMs: number;
  /**
   * Called if the first answer fails or is late. Its result is useless once the signal aborts: the first has answered
   * after all.
   */
  other(signal: AbortSignal): Promise<Answer>;
  /** Called before `other`, with one sentence that says why. */
  note(why: string): void;
}

/**
 * The first answer if it comes in time; or else the first or the other answer, whichever comes earlier. Rejects if the
 * other one does.
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
