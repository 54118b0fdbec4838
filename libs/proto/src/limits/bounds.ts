/**
 * What is too long, too many or not to be shown in a message: its field as the .proto files name it, and what is
 * allowed.
 */
export interface Excess {
  /** The field, or words about it. */
  what: string;
  field: string;
  value: string;
  allowed: string;
}

/** Looks at the value of a field, whose name is `what`; undefined where it is within its bounds. */
export type FieldBound<Value> = (value: Value, what: string) => Excess | undefined;

type FieldOf<T> = NonNullable<T>;

/** Fields that hold texts, lists, maps or messages; numbers are as long as they are. */
type Bounded<Message> = {
  [Name in keyof Message]-?: FieldOf<Message[Name]> extends number | boolean ? never : Name;
}[keyof Message];

/**
 * A bound for every field of a message that can be too long: one that is added to the .proto files is missed by the
 * compiler.
 */
export type Bounds<Message> = { [Name in Bounded<Message>]: FieldBound<FieldOf<Message[Name]>> };

type CaseOf<Choice> = Choice extends { $case: infer Name extends string; value: unknown } ? Name : never;
type ChosenBy<Choice, Name> = Extract<Choice, { $case: Name }> extends { value: infer Value } ? Value : never;

/** Characters, as JavaScript counts them. */
export function text(most: number): FieldBound<string> {
  return (value, what) =>
    value.length <= most ? undefined : { what, field: what, value, allowed: `at most ${most} characters` };
}

/** A text that is shown in lists, logs and terminals, and so has no control characters. */
export function name(most: number, least = 0): FieldBound<string> {
  const allowed = `${least > 0 ? `${least} to` : 'at most'} ${most} characters, none of them a control character,`;
  return (value, what) =>
    value.length >= least && value.length <= most && !/\p{Cc}/u.test(value)
      ? undefined
      : { what, field: what, value, allowed };
}

/** So many bytes, or fewer. */
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
      // Leases have thousands of entries: the place of one is named where it is wrong alone.
      if (entry(one, what)) return entry(one, `${what}[${i}]`);
    }
    return undefined;
  };
}

/** By name: `key` is the bound of names. */
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

/** A message; fields that are absent are within their bounds. */
export function fields<Message extends object>(bounds: Bounds<Message>): FieldBound<Message> {
  const every = Object.entries(bounds).map(([field, bound]) => {
    // Leases have some thousand messages of one kind: names are made once.
    const named = field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    return { field: field as keyof Message, bound: bound as FieldBound<unknown>, named };
  });
  return (message, what) =>
    firstOf(every, ({ field, bound, named }) => {
      const value = message[field];
      return value === undefined || value === null ? undefined : bound(value, what ? `${what}.${named}` : named);
    });
}

/** One of several messages, named by which it is. */
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

/** For what its receiver bounds itself, by the rule that says more. */
export const elsewhere = (): undefined => undefined;

function firstOf<T>(all: readonly T[], look: (one: T) => Excess | undefined): Excess | undefined {
  for (const one of all) {
    const excess = look(one);
    if (excess) return excess;
  }
  return undefined;
}
