import { didYouMean, type ParameterError, shortened } from '@halogrid/kernels';
import { named, Sentence, sentence } from '@halogrid/proto/sentence';
import type { RefusalCode } from '@halogrid/service/usage-error';

/** Why a request is refused. */
export type RefusalKind =
  | 'invalid' // it is wrong in itself
  | 'missing' // it names something that does not exist
  | 'gone' // it names something that exists no longer
  | 'unmet' // it does not fit the present state
  | 'forbidden' // it asks for something out of bounds
  | 'unsupported' // it is in a form that is not accepted
  | 'exhausted' // too much runs or waits already
  | 'unavailable'; // the answer is unknown at this moment

const codes: Record<RefusalKind, RefusalCode> = {
  invalid: 'INVALID_ARGUMENT',
  missing: 'NOT_FOUND',
  gone: 'FAILED_PRECONDITION',
  unmet: 'FAILED_PRECONDITION',
  forbidden: 'PERMISSION_DENIED',
  unsupported: 'INVALID_ARGUMENT',
  exhausted: 'RESOURCE_EXHAUSTED',
  unavailable: 'UNAVAILABLE',
};

/**
 * The most bytes of a sentence. gRPC sends a status as a header; clients accept 8 KiB of headers, and encoding may make
 * three bytes of one.
 */
const maxBytes = 2_000;

/** Shortens a sentence, such as one with a long value that a user chose, to fit a status of gRPC. */
export function fitting(sentence: string): string {
  const short = shortened(sentence, maxBytes);
  return Buffer.byteLength(short) <= maxBytes ? short : shortened(short, maxBytes / 4);
}

/** Thrown when a request is refused and has changed nothing. The message is one sentence for the caller. */
export class Refusal extends Error {
  readonly kind: RefusalKind;
  /** The message with the fields that it names, spelled as in the .proto files. */
  readonly sentence: Sentence;
  /**
   * The wrong field of the request, spelled as in the .proto files: `grid.rows`, `sources[2]`. Unless given, it is the
   * first field that the sentence names.
   */
  readonly field: string | undefined;

  constructor(kind: RefusalKind, message: string | Sentence, field?: string) {
    const whole = typeof message === 'string' ? new Sentence([message]) : message;
    const text = String(whole);
    const short = fitting(text);
    super(short);
    this.name = 'Refusal';
    this.kind = kind;
    this.sentence = short === text ? whole : new Sentence([short]);
    this.field = field ?? whole.field;
  }

  get code(): RefusalCode {
    return codes[this.kind];
  }
}

/** Thrown when a request is dropped because its caller is gone. It is not sent to anybody. */
export class CallerGoneError extends Error {
  constructor() {
    super('The caller is gone');
    this.name = 'CallerGoneError';
  }
}

/** Whether an error is a fault of the program, with a message that is not meant for users. */
export const isUnmeant = (error: unknown): boolean =>
  [TypeError, RangeError, ReferenceError, SyntaxError].some((kind) => error instanceof kind);

/**
 * Why something failed, in one sentence for the caller: the message of the error if it is meant for users, or else that
 * the log says more.
 */
export function whyFailed(error: unknown): string {
  if (isUnmeant(error)) return 'The coordinator itself failed; its log says where';
  return error instanceof Error ? error.message : String(error);
}

/** The refusal for a ParameterError, with the name of the request's `field` in place of the parameter's. */
export function refusalOf(error: ParameterError, field: string): Refusal {
  const [before, after] = error.aroundName();
  return new Refusal('invalid', sentence`${before}${named(field)}${after}`);
}

/**
 * Throws the refusal of a value. `allowed` says what is allowed, or lists the allowed words. `what` is a field of the
 * request, a sentence that names the field, or words about `field`.
 */
export function refuseValue(
  what: string | Sentence,
  value: unknown,
  allowed: string | Sentence | readonly string[],
  field?: string,
): never {
  const place = typeof what === 'string' && field === undefined ? named(shortened(what)) : what;
  const isList = typeof allowed !== 'string' && !(allowed instanceof Sentence);
  const clause = isList ? `one of ${allowed.join(', ')}` : allowed;
  const hint = isList ? didYouMean(String(value), allowed) : '';
  throw new Refusal(
    'invalid',
    sentence`Expected ${clause} for ${place} but received '${shortened(value)}'${hint}`,
    field,
  );
}
