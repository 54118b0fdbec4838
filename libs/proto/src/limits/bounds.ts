/** A value in a message that is too long, has too many entries, or must not be shown. */
export interface Excess {
  /** The field, as the .proto files name it, or words about it. */
  what: string;
  field: string;
  value: string;
  allowed: string;
}

/** Checks the value of the field named `what`; undefined if it is within its bounds. */
export type FieldBound<Value> = (value: Value, what: string) => Excess | undefined;

type FieldOf<T> = NonNullable<T>;

/** Fields that hold texts, lists, maps or messages. Numbers need no bound. */
type Bounded<Message> = {
  [Name in keyof Message]-?: FieldOf<Message[Name]> extends number | boolean ? never : Name;
}[keyof Message];

/**
 * A bound for every field of a message that can be too long. If a field is added to the .proto files, the compiler
 * reports its missing bound.
 */
export type Bounds<Message> = { [Name in Bounded<Message>]: FieldBound<FieldOf<Message[Name]>> };

type CaseOf<Choice> = Choice extends { $case: infer Name extends string; value: unknown } ? Name : never;
type ChosenBy<Choice, Name> = Extract<Choice, { $case: Name }> extends { value: infer Value } ? Value : never;

/** At most `most` characters, as JavaScript counts them. */
export function text(most: number): FieldBound<string> {
  return (value, what) =>
    value.length <= most ? undefined : { what, field: what, value, allowed: `at most ${most} characters` };
}

/** A text that is shown in lists, logs and terminals, and so must have no control characters. */
export function name(most: number, least = 0): FieldBound<string> {
  const allowed = `${least > 0 ? `${least} to` : 'at most'} ${most} characters, none of them a control character,`;
  return (value, what) =>
    value.length >= least && value.length <= most && !/\p{Cc}/u.test(value)
      ? undefined
      : { what, field: what, value, allowed };
}

/** At most `most` bytes. */
export function bytes(most: number): FieldBound<Uint8Array> {
  return (value, what) =>
    value.length <= most
      ? undefined
      : { what, field: what, value: `${value.length} bytes`, allowed: `at most ${most} bytes` };
}

export function list<Entry>(most: number, entry: FieldBound<Entry> = () => undefined): FieldBound<readonly Entry[]> {
  return (value, what) => {
    if (value.length > most) {
      return { what: `the number of ${what}`, field: what, value: String(value.length), allowed: `at most ${most}` };
    }
    for (const [i, one] of value.entries()) {
      // A lease has thousands of entries, so the name of an entry is made only if it is wrong.
      if (entry(one, what)) return entry(one, `${what}[${i}]`);
    }
    return undefined;
  };
}

/** A map with at most `most` entries; `key` is the bound of their keys. */
export function map<Value>(
  most: number,
  key: FieldBound<string>,
  entry: FieldBound<Value> = () => undefined,
): FieldBound<{ [name: string]: Value }> {
  return (value, what) => {
    const entries = Object.entries(value);
    if (entries.length > most) {
      return { what: `the number of ${what}`, field: what, value: String(entries.length), allowed: `at most ${most}` };
    }
    return firstOf(entries, ([at, one]) => {
      const excess = key(at, `a name in ${what}`);
      return excess ? { ...excess, field: what } : entry(one, `${what}.${at}`);
    });
  };
}

/** A message. Missing fields are within their bounds. */
export function fields<Message extends object>(bounds: Bounds<Message>): FieldBound<Message> {
  const every = Object.entries(bounds).map(([field, bound]) => {
    // A lease may have thousands of messages of one kind, so the names of fields are made once.
    const named = field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    return { field: field as keyof Message, bound: bound as FieldBound<unknown>, named };
  });
  return (message, what) =>
    firstOf(every, ({ field, bound, named }) => {
      const value = message[field];
      return value === undefined || value === null ? undefined : bound(value, what ? `${what}.${named}` : named);
    });
}

/** A oneof of messages, with a bound for each. */
export function oneMessageOf<Choice extends { $case: string; value: unknown }>(
  bounds: {
    [Name in CaseOf<Choice>]: FieldBound<ChosenBy<Choice, Name>>;
  },
): FieldBound<Choice> {
  return ({ $case, value }, what) => {
    const bound = bounds[$case as CaseOf<Choice>] as FieldBound<unknown> | undefined;
    return bound?.(value, [...what.split('.').slice(0, -1), $case].join('.'));
  };
}

/** For a value that its receiver checks itself, by a rule with a better sentence. */
export const elsewhere = (): undefined => undefined;

function firstOf<T>(all: readonly T[], look: (one: T) => Excess | undefined): Excess | undefined {
  for (const one of all) {
    const excess = look(one);
    if (excess) return excess;
  }
  return undefined;
}
