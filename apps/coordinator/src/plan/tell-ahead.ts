import type { PreviewChoice } from '@halogrid/jobs/preview-choice';
import { hasVideoExtension, type Source } from '@halogrid/sources';

/**
 * Inputs that are listed before the first is planned. Listing a thousand files takes 15 ms, and of 3,000 frames, 45 are
 * chosen for a time instead of 117 (measured): of each of these, a node computes the dense result.
 */
const toldAhead = 1024;

/** So long the inputs that are listed wait for those of a server or a disk that does not answer. */
const mostMs = 250;

/**
 * The same inputs in the same order, some at a time. `previews` is told of those in a folder of this machine while
 * others are before them, so that few are chosen for a time only. What may turn out to be a video, whose frames are the
 * sources, it is not told of, and what is on a server is not waited for, nor what takes long to be listed.
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

/** What is listed, and `late` once each time that the next takes longer. */
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
