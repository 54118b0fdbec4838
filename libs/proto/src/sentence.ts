/**
 * A sentence about a request that keeps the names in it apart: fields, as the .proto files name them, or options. Each
 * interface puts its own names there before it shows the sentence.
 */
export class Sentence {
  /** Texts and, between them, names: parts with an odd index are names. */
  readonly parts: readonly string[];

  constructor(parts: readonly string[]) {
    this.parts = parts;
  }

  /** The first name; undefined if there is no name. */
  get field(): string | undefined {
    return this.parts[1];
  }

  /** The same sentence with its names replaced. */
  naming(nameOf: (name: string) => string): Sentence {
    return new Sentence(this.parts.map((part, i) => (i % 2 === 0 ? part : nameOf(part))));
  }

  toString(): string {
    return this.parts.join('');
  }
}

/** Makes a sentence from a template. A value becomes text, except a sentence, which keeps its names. */
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

/** A name, for use in a template of `sentence`. */
export const named = (name: string): Sentence => new Sentence(['', name, '']);

/** Names, separated by commas, for use in a template of `sentence`. */
export const namedAll = (names: readonly string[]): Sentence =>
  new Sentence(names.flatMap((name, i) => [i === 0 ? '' : ', ', name]).concat(''));
