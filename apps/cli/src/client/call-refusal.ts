import { type ErrorCode, HalogridError } from '@halogrid/client/errors';
import type { Sentence } from '@halogrid/proto/sentence';

/** The refusal of a call by a coordinator, with a sentence that knows which of its words are names of fields. */
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
