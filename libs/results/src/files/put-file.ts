import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

/** The most requests for one file, if failures may pass. */
const attempts = 4;
const backoffMs = 250;

/**
 * Sends a file to `url`; `what` names it in sentences. Rejects with one sentence, without the URL, which has a token.
 */
export async function putFile(url: string, content: Uint8Array, what: string): Promise<void> {
  const digest = createHash('sha256').update(content).digest('base64');
  const init = {
    method: 'PUT',
    body: content as Uint8Array<ArrayBuffer>,
    headers: { 'content-digest': `sha-256=:${digest}:` },
  };
  for (let attempt = 1; ; attempt++) {
    const failure = await fetch(url, { ...init, redirect: 'error' }).then(explain, ({ cause, message }: Error) => ({
      isFinal: false,
      sentence: cause instanceof Error ? cause.message : message,
    }));
    if (!failure) return;
    if (failure.isFinal || attempt === attempts) {
      throw new Error(`The ${what} could not be sent to the coordinator: ${failure.sentence}`);
    }
    await delay(backoffMs * 2 ** (attempt - 1));
  }
}

async function explain(response: Response): Promise<{ isFinal: boolean; sentence: string } | undefined> {
  const text = (await response.text()).trim();
  if (response.ok) return undefined;
  return { isFinal: response.status < 500, sentence: `${response.status} ${text}` };
}
