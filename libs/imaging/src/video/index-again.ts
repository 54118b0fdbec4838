import { InputError } from '@halogrid/sources';
import type { IndexLine } from './process/index-line.ts';
import { DecoderBrokeError, DecoderHungError } from './video-reader.ts';

/**
 * Indexes again if the process breaks down or hangs, and skips the lines that were given out before. Throws InputError
 * if it breaks down again: the planner has no other machine to try.
 */
export async function* indexAgain(index: () => AsyncIterable<IndexLine>): AsyncGenerator<IndexLine, void, undefined> {
  let given = 0;
  try {
    for await (const line of index()) {
      given++;
      yield line;
    }
  } catch (error) {
    if (!isOfProcess(error)) throw error;
    yield* indexBehind(index(), given);
  }
}

const isOfProcess = (error: unknown): error is Error =>
  error instanceof DecoderBrokeError || error instanceof DecoderHungError;

async function* indexBehind(
  lines: AsyncIterable<IndexLine>,
  given: number,
): AsyncGenerator<IndexLine, void, undefined> {
  let passed = 0;
  try {
    for await (const line of lines) if (passed++ >= given) yield line;
  } catch (error) {
    throw isOfProcess(error) ? new InputError('decode', `${error.message} (2 attempts)`) : error;
  }
}
