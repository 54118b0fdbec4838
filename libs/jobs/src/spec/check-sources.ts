import type { JobSpec } from '@halogrid/proto';
import { named, sentence } from '@halogrid/proto/sentence';
import {
  charactersOfBraces,
  checkHasSource,
  checkSourceUri,
  InputError,
  mayHaveVideo,
  redactUri,
  SourceForbiddenError,
  SourceNotFoundError,
  SourceUriError,
} from '@halogrid/sources';
import { whyNoInput } from '@halogrid/sources/filter';
import { Turns } from '@halogrid/threads';
import { Refusal, refuseValue } from '../refusal.ts';
import { noVideoSentence } from './check-video.ts';

/**
 * The most characters that the braces of all sources expand to: a plan keeps what it needs to tell whether an input was
 * given before.
 */
const maxBracesCharacters = 2 ** 23;

/**
 * The most inputs that are searched for a video here: a folder with this many is listed within a second. With more, the
 * plan finds out.
 */
const maxLooks = 20_000;

export interface CheckOptions {
  /** Returns the same URIs; as they are iterated, it learns which one is being checked. */
  told?: (uris: Iterable<string>) => Iterable<string>;
  /** Aborts when the result is not wanted any more. */
  signal?: AbortSignal | undefined;
  /** As checkFilter has checked it. */
  filter?: JobSpec['filter'];
  /** The column of Parquet files that has images. */
  column?: string | undefined;
}

/**
 * Checks the sources of a specification, and gives way to other work meanwhile. `videoField` is the field of the
 * request that is for videos alone, if it has one. Throws Refusal, which names the place of the source in `uris`:
 * 'invalid' for a URI that cannot be a source, 'missing' for a source that leads to no input, 'forbidden' for a source
 * that this process may not read. Images alone with `videoField` are 'invalid', too; a filter that leaves out every
 * input is 'missing'. Whether an input can be read is for the planner and the nodes to find out: they quarantine the
 * input, or wait for its host.
 */
export async function checkSources(
  uris: readonly string[],
  videoField?: string,
  { told = (all) => all, signal, filter, column }: CheckOptions = {},
): Promise<void> {
  const turns = new Turns();
  let characters = 0;
  const checkBraces = (uri: string): void => {
    characters += charactersOfBraces(uri);
    if (characters > maxBracesCharacters) {
      const allowed = `at most ${maxBracesCharacters}`;
      refuseValue(
        sentence`the characters of all alternatives in the braces of ${named('sources')}`,
        characters,
        allowed,
      );
    }
  };
  let hasInput = false;
  const checkInput = async (uri: string, place: () => string): Promise<void> => {
    if (await checkHasInput(uri, place, { filter, column })) hasInput = true;
  };
  for (const check of [checkUri, checkBraces, checkInput]) {
    for (const uri of told(new Set(uris))) {
      signal?.throwIfAborted();
      if (turns.isOver) await turns.giveWay();
      await check(uri, () => `sources[${uris.indexOf(uri)}]`);
    }
  }
  if (filter && !hasInput) throw new Refusal('missing', whyNoInput(filter));
  if (videoField && !(await mayHaveVideoHere(told(uris), { filter, column }))) {
    throw new Refusal('invalid', noVideoSentence(named(videoField)));
  }
}

async function checkUri(uri: string, place: () => string): Promise<void> {
  try {
    checkSourceUri(uri);
  } catch (error) {
    throw error instanceof SourceUriError ? new Refusal('invalid', error.message, place()) : error;
  }
}

/** What is chosen of the sources. */
type Chosen = Pick<CheckOptions, 'filter' | 'column'>;

/** False if a filter leaves out all inputs that the URI stands for. */
async function checkHasInput(uri: string, place: () => string, options: Chosen): Promise<boolean> {
  try {
    return await checkHasSource(uri, options);
  } catch (error) {
    if (error instanceof SourceForbiddenError) {
      const why = `The source '${redactUri(uri)}' is not allowed here: ${error.message}`;
      throw new Refusal('forbidden', why, place());
    }
    if (isAway(error)) return true;
    throw error instanceof SourceNotFoundError ? new Refusal('missing', error.message, place()) : error;
  }
}

async function mayHaveVideoHere(uris: Iterable<string>, options: Chosen): Promise<boolean> {
  try {
    return await mayHaveVideo(uris, maxLooks, options);
  } catch (error) {
    if (isAway(error)) return true;
    throw error;
  }
}

/** The host is away: the plan waits for it. */
const isAway = (error: unknown): boolean => error instanceof InputError && error.fault === 'away';
