/**
 * Why a request is refused: it is wrong in itself, names something that is not there, does not fit what is, asks
 * for what is out of bounds, or there is too much already.
 */
export type RefusalKind = 'invalid' | 'missing' | 'unmet' | 'forbidden' | 'exhausted';

/** A request is refused, and nothing came of it; the message is one sentence for whoever asked. */
export class Refusal extends Error {
  readonly kind: RefusalKind;

  constructor(kind: RefusalKind, message: string) {
    super(message);
    this.name = 'Refusal';
    this.kind = kind;
  }
}

/** Throws the refusal of an option's value, with what is allowed. */
export function refuseValue(what: string, value: unknown, allowed: string): never {
  throw new Refusal('invalid', `Expected ${allowed} for ${what} but received '${value}'`);
}
