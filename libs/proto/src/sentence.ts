/**
 * A sentence about a request that knows where it names what is wrong: a field, as the .proto files have it, or an
 * option. Who tells it to a caller puts the caller's own names there.
 */
export class Sentence {
  /** Texts and, between them, names: every second part is a name. */
  readonly parts: readonly string[];

  constructor(parts: readonly string[]) {
    this.parts = parts;
  }

  /** The first name. */
  get field(): string | undefined {
    return this.parts[1];
  }

  /** The same with other names. */
  naming(nameOf: (name: string) => string): Sentence {
    return new Sentence(this.parts.map((part, i) => (i % 2 === 0 ? part : nameOf(part))));
  }

  toString(): string {
    return this.parts.join('');
  }
}

/** Makes a sentence of a template. Values are texts, but for sentences, which keep their names. */
export function sentence(texts: TemplateStringsArray, ...values: readonly unknown[]): Sentence {
  const parts = [texts[0]!];
  for (const [i, value] of values.entries()) {
    const [first, ...others] = value instanceof Sentence ? value.parts : [String(value)];
    parts[parts.length - 1] += first!;
    parts.push(...others);
    parts[parts.length - 1] += texts[i + 1]!;
  }
  return new Sentence(parts);
}

/** A name for a sentence. */
export const named = (name: string): Sentence => new Sentence(['', name, '']);

/** Names for a sentence, with commas. */
export const namedAll = (names: readonly string[]): Sentence =>
  new Sentence(names.flatMap((name, i) => [i === 0 ? '' : ', ', name]).concat(''));
