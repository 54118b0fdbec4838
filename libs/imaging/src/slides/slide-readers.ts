import { InputError } from '@halogrid/sources';
import { limitConcurrency, poolThreads } from '@halogrid/threads/pool-threads';
import { MissingDecoderError } from '../missing-decoder-error.ts';
import { SlideCrashError, SlideReader } from './slide-reader.ts';

/** How long a process without work stays. */
const idleMs = 10_000;
/** How long a missing OpenSlide is believed to be missing: a folder may have thousands of slides. */
const missingMs = 10_000;

interface Free {
  reader: SlideReader;
  /** The slide that it read last. */
  slide: string;
}

/** The processes of this thread that have no work; the last used one last. */
const free: Free[] = [];
let idleTimer: NodeJS.Timeout | undefined;
let missing: { error: MissingDecoderError; untilMs: number } | undefined;

/** As many processes decode at once as threads decode other images. */
const limit = limitConcurrency(poolThreads());

/**
 * Has a process do work on a slide; best one that has read it before. A process that has met damage or broken down gets
 * no more work. If two processes in turn break down over a slide, the slide is at fault. Rejects with InputError, or
 * MissingDecoderError.
 */
export function readSlide<Result>(slide: string, work: (reader: SlideReader) => Promise<Result>): Promise<Result> {
  return limit(async () => {
    if (missing && performance.now() < missing.untilMs) throw missing.error;
    try {
      return await tryOnce(slide, work);
    } catch (error) {
      if (!(error instanceof SlideCrashError)) throw error;
    }
    try {
      return await tryOnce(slide, work);
    } catch (error) {
      if (!(error instanceof SlideCrashError)) throw error;
      throw new InputError('decode', error.message);
    }
  });
}

async function tryOnce<Result>(slide: string, work: (reader: SlideReader) => Promise<Result>): Promise<Result> {
  const at = free.findLastIndex((one) => one.slide === slide);
  const [known] = free.splice(at, 1);
  const reader = known?.reader ?? new SlideReader();
  try {
    const result = await work(reader);
    free.push({ reader, slide });
    endIdle();
    return result;
  } catch (error) {
    if (error instanceof MissingDecoderError) missing = { error, untilMs: performance.now() + missingMs };
    void reader.end();
    throw error;
  }
}

/** Begins to wait again whenever a process has become free. */
function endIdle(): void {
  clearTimeout(idleTimer);
  idleTimer = setTimeout(() => void endReaders(), idleMs);
  idleTimer.unref();
}

/** Ends the processes that have no work. */
export async function endReaders(): Promise<void> {
  await Promise.all(free.splice(0).map(({ reader }) => reader.end()));
}
