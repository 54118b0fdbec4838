import { Sentence } from '@halogrid/proto/sentence';

/** The request itself is wrong: one sentence that names the value and what is allowed. Commands exit with 2. */
export class UsageError extends Error {
  readonly #sentence: Sentence;
  readonly #field: string | undefined;

  /** `field` is the option or field that is wrong: the first that the sentence names unless given. */
  constructor(message: string | Sentence, { field, ...options }: ErrorOptions & { field?: string } = {}) {
    super(String(message), options);
    this.name = 'UsageError';
    this.#sentence = typeof message === 'string' ? new Sentence([message]) : message;
    this.#field = field ?? this.#sentence.field;
  }

  /** The message, which knows the names of options or fields where it has them. */
  get sentence(): Sentence {
    return this.#sentence;
  }

  get field(): string | undefined {
    return this.#field;
  }
}
