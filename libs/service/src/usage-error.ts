import { Sentence } from '@halogrid/proto/sentence';

/** The request itself is wrong: one sentence that names the value and what is allowed. Commands exit with 2. */
export class UsageError extends Error {
  /** The message, with the names of options or fields where it has them. */
  readonly sentence: Sentence;

  constructor(message: string | Sentence, options?: ErrorOptions) {
    super(String(message), options);
    this.name = 'UsageError';
    this.sentence = typeof message === 'string' ? new Sentence([message]) : message;
  }
}
