import { didYouMean, type ParameterError, shortened } from '@halogrid/kernels';
import { named, Sentence, sentence } from '@halogrid/proto/sentence';
import type { RefusalCode } from '@halogrid/service/usage-error';

/**
 * Why a request is refused: it is wrong in itself, names something that is not there or is there no longer, does not
 * fit what is, asks for what is out of bounds, is in a form that is not taken, there is too much already, or the answer
 * is unknown at this moment.
 */
export type RefusalKind =
  | 'invalid'
  | 'missing'
  | 'gone'
  | 'unmet'
  | 'forbidden'
  | 'unsupported'
  | 'exhausted'
  | 'unavailable';

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
 * Bytes of a sentence at most: a status of gRPC is among the headers, of which clients take 8 KiB, and each byte may
 * become three.
 */
const maxBytes = 2_000;

/** A sentence that fits a status: what is too long of it, such as a value that somebody chose, is left out. */
export function fitting(sentence: string): string {
  const short = shortened(sentence, maxBytes);
  return Buffer.byteLength(short) <= maxBytes ? short : shortened(short, maxBytes / 4);
}

/** A request is refused, and nothing came of it; the message is one sentence for whoever asked. */
export class Refusal extends Error {
  readonly kind: RefusalKind;
  /** The message, with the fields that it names, as the .proto files have them. */
  readonly sentence: Sentence;
  /**
   * What of the request is wrong, as the .proto files name it: `grid.rows`, `sources[2]`; the first that the sentence
   * names unless given.
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

/** The caller is gone: its request was dropped, and the reason is not sent. */
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
 * Why something failed, in one sentence for the caller: the message of an error that is meant for users; for a fault of
 * the program, a sentence that the log has more.
 */
export function whyFailed(error: unknown): string {
  if (isUnmeant(error)) return 'The coordinator itself failed; its log says where';
  return error instanceof Error ? error.message : String(error);
}

/** The refusal of a parameter of a kernel, or of what is asked of its results, in that field. */
export function refusalOf(error: ParameterError, field: string): Refusal {
  const [before, after] = error.aroundName();
  return new Refusal('invalid', sentence`${before}${named(field)}${after}`);
}

/**
 * Throws the refusal of a value, with what is allowed, in words or as the words that are. `what` is a field of the
 * request, words that name one, or words about the one that `field` names.
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
