import type { PreviewChoice } from '@halogrid/jobs/preview-choice';
import { hasVideoExtension, type Source } from '@halogrid/sources';

/**
 * How many inputs are listed before the first is planned. Listing a thousand files takes 15 ms. For each frame that is
 * chosen for a preview, even if only for a time, a node computes the dense result: with this, 45 of 3,000 frames are
 * chosen instead of 117 (measured).
 */
const toldAhead = 1024;

/** How long listed inputs wait for further ones from a server or a disk that does not answer. */
const mostMs = 250;

/**
 * Yields the same inputs in the same order, some at a time. Files in folders of this machine are announced to
 * `previews` before their turn, so that few are chosen only for a time. Files that may be videos are not announced,
 * because their frames are the sources. Inputs on servers, or that take long to list, are not waited for.
 */
export async function* tellAhead(
  listed: AsyncIterable<readonly Source[]>,
  previews: Pick<PreviewChoice, 'expect'>,
  most = toldAhead,
): AsyncGenerator<Source[], void, undefined> {
  const waiting: Source[] = [];
  for await (const sources of lateOnes(listed, mostMs)) {
    if (sources === late) {
      if (waiting.length > 0) yield waiting.splice(0);
      continue;
    }
    for (const source of sources) {
      const { uri, name, named } = source;
      waiting.push(source);
      if (uri.startsWith('file:') && !named && !hasVideoExtension(name)) previews.expect({ uri });
    }
    const isWaitedFor = sources.every(({ uri }) => uri.startsWith('file:'));
    const ready = isWaitedFor ? waiting.length - most : waiting.length;
    if (ready > 0) yield waiting.splice(0, ready);
  }
  if (waiting.length > 0) yield waiting;
}

const late = Symbol('late');

/** Yields what is listed, and `late` once whenever the next takes longer than `ms`. */
async function* lateOnes<Listed>(
  listed: AsyncIterable<Listed>,
  ms: number,
): AsyncGenerator<Listed | typeof late, void, undefined> {
  const iterator = listed[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = iterator.next();
      const timer = Promise.withResolvers<typeof late>();
      const timeout = setTimeout(timer.resolve, ms, late);
      const first = await Promise.race([next, timer.promise]).finally(() => clearTimeout(timeout));
      if (first === late) yield late;
      const { done, value } = await next;
      if (done) return;
      yield value;
    }
  } finally {
    await iterator.return?.();
  }
}
