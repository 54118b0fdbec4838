import { type ErrorCode, HalogridError } from '@halogrid/client/errors';
import type { Sentence } from '@halogrid/proto/sentence';

/** A coordinator refuses a call, in a sentence that knows where it names fields. */
export class CallRefusal extends HalogridError {
  readonly #sentence: Sentence;

  constructor(code: ErrorCode, sentence: Sentence, options: { field: string | undefined; cause: unknown }) {
    super(code, String(sentence), options);
    this.#sentence = sentence;
  }

  get sentence(): Sentence {
    return this.#sentence;
  }
}
