import { shortened } from '@halogrid/kernels';

/**
 * Why a request is refused: it is wrong in itself, names something that is not there, does not fit what is, asks
 * for what is out of bounds, there is too much already, or nobody can tell at this moment.
 */
export type RefusalKind = 'invalid' | 'missing' | 'unmet' | 'forbidden' | 'exhausted' | 'unavailable';

/** Bytes of a sentence at most: a status of gRPC is among the headers, of which clients take 8 KiB, and each byte may become three. */
const maxBytes = 2_000;

/** A sentence that fits a status: what is too long of it, such as a value that somebody chose, is left out. */
export function fitting(sentence: string): string {
  const short = shortened(sentence, maxBytes);
  return Buffer.byteLength(short) <= maxBytes ? short : shortened(short, maxBytes / 4);
}

/** A request is refused, and nothing came of it; the message is one sentence for whoever asked. */
export class Refusal extends Error {
  readonly kind: RefusalKind;

  constructor(kind: RefusalKind, message: string) {
    super(fitting(message));
    this.name = 'Refusal';
    this.kind = kind;
  }
}

/** The caller is gone, so that nothing came of the request and nobody reads why. */
export class CallerGoneError extends Error {
  constructor() {
    super('The caller is gone');
    this.name = 'CallerGoneError';
  }
}

/** Whether the program did not mean to throw an error, whose message says something about the program alone. */
export const isUnmeant = (error: unknown): boolean =>
  [TypeError, RangeError, ReferenceError, SyntaxError].some((kind) => error instanceof kind);

/**
 * Why something failed, in one sentence for whoever asked: what an error says that was thrown for people; of one that
 * says something about the program alone, that the log has more.
 */
export function whyFailed(error: unknown): string {
  if (isUnmeant(error)) return 'The coordinator itself failed; its log says where';
  return error instanceof Error ? error.message : String(error);
}

/** Throws the refusal of an option's value, with what is allowed. */
export function refuseValue(what: string, value: unknown, allowed: string): never {
  throw new Refusal('invalid', `Expected ${allowed} for ${what} but received '${shortened(value)}'`);
}
