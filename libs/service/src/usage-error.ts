import { Sentence } from '@halogrid/proto/sentence';

/** Why a request is refused, as a status code of gRPC. */
export type RefusalCode =
  | 'INVALID_ARGUMENT'
  | 'NOT_FOUND'
  | 'FAILED_PRECONDITION'
  | 'PERMISSION_DENIED'
  | 'RESOURCE_EXHAUSTED'
  | 'UNAVAILABLE';

/** The error for a wrong request: one sentence that names the value and what is allowed. Commands exit with 2. */
export class UsageError extends Error {
  readonly #sentence: Sentence;
  readonly #field: string | undefined;
  readonly code: RefusalCode;

  /**
   * `field` is the option or field that is wrong; it defaults to the first that the sentence names. `code` defaults to
   * INVALID_ARGUMENT.
   */
  constructor(
    message: string | Sentence,
    { field, code = 'INVALID_ARGUMENT', ...options }: ErrorOptions & { field?: string; code?: RefusalCode } = {},
  ) {
    super(String(message), options);
    this.name = 'UsageError';
    this.#sentence = typeof message === 'string' ? new Sentence([message]) : message;
    this.code = code;
    this.#field = field ?? this.#sentence.field;
  }

  /** The message, with the names of options or fields in it kept apart. */
  get sentence(): Sentence {
    return this.#sentence;
  }

  get field(): string | undefined {
    return this.#field;
  }
}
