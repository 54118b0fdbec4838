/** One character of a pattern, or any number of them. */
type Token = 'any characters' | 'any character' | number | CharacterSet;

interface CharacterSet {
  isNegated: boolean;
  /** First and last code points. */
  ranges: readonly (readonly [from: number, to: number])[];
}

/** A pattern for one name: the name itself, or tokens to compare names with. */
export type NamePattern = { literal: string } | { tokens: readonly Token[] };

/**
 * Parses the pattern of one folder or file name: `*` stands for any characters, `?` for one, `[a-c]` for one of these,
 * and `[!a-c]` (or `[^a-c]`) for one that is not among these. A `]` that comes first in a set is part of it; a set that
 * is empty or not closed is text. Throws RangeError for a range that runs backwards.
 */
export function parseName(text: string): NamePattern {
  const tokens: Token[] = [];
  let isLiteral = true;
  // Behind the last bracket that closes, no bracket opens a set: searching a closing one from each would take too long.
  const lastClosing = text.lastIndexOf(']');
  for (let at = 0; at < text.length; ) {
    const char = text[at]!;
    const set = char === '[' && at < lastClosing ? parseSet(text, at) : undefined;
    if (set) {
      tokens.push(set.token);
      at = set.end;
      isLiteral = false;
    } else if (char === '*') {
      if (tokens.at(-1) !== 'any characters') tokens.push('any characters');
      at++;
      isLiteral = false;
    } else if (char === '?') {
      tokens.push('any character');
      at++;
      isLiteral = false;
    } else {
      const code = text.codePointAt(at)!;
      tokens.push(code);
      at += unitsOf(code);
    }
  }
  return isLiteral ? { literal: text } : { tokens };
}

/** Undefined if the bracket at `start` opens no set. */
function parseSet(text: string, start: number): { token: CharacterSet; end: number } | undefined {
  const isNegated = text[start + 1] === '!' || text[start + 1] === '^';
  const from = start + (isNegated ? 2 : 1);
  // A first bracket is a character of the set if another one closes the set.
  const second = text[from] === ']' ? text.indexOf(']', from + 1) : -1;
  const to = second > 0 ? second : text.indexOf(']', from);
  if (to <= from) return undefined;
  const codes = Array.from(text.slice(from, to), (char) => char.codePointAt(0)!);
  const ranges: [number, number][] = [];
  for (let i = 0; i < codes.length; ) {
    const isRange = codes[i + 1] === hyphen && i + 2 < codes.length;
    const range: [number, number] = [codes[i]!, codes[isRange ? i + 2 : i]!];
    if (range[0] > range[1]) {
      throw new RangeError(`the range '${String.fromCodePoint(range[0], hyphen, range[1])}' runs backwards`);
    }
    ranges.push(range);
    i += isRange ? 3 : 1;
  }
  return { token: { isNegated, ranges }, end: to + 1 };
}

const hyphen = 0x2d;

/**
 * Whether a name matches a pattern, code point by code point. Only lengths of the last `*` are tried: an earlier one
 * takes the least that fits, because more would leave less for the rest. So it takes at most as many steps as the name
 * is long, times the characters between two `*`.
 */
export function matchesName(pattern: NamePattern, name: string): boolean {
  if ('literal' in pattern) return pattern.literal === name;
  const { tokens } = pattern;
  let at = 0;
  let next = 0;
  /** For the last `*`: its place in the pattern, and where in the name the tokens behind it are tried. */
  let star = -1;
  let tried = 0;
  while (at < name.length) {
    const token = tokens[next];
    if (token === 'any characters') {
      star = ++next;
      tried = at;
      // At the end of a pattern, `*` stands for all that is left.
      if (next === tokens.length) return true;
      continue;
    }
    const code = name.codePointAt(at)!;
    if (token !== undefined && isOne(token, code)) {
      next++;
      at += unitsOf(code);
      continue;
    }
    if (star < 0) return false;
    tried += unitsOf(name.codePointAt(tried)!);
    at = tried;
    next = star;
  }
  return next === tokens.length || (next === tokens.length - 1 && tokens[next] === 'any characters');
}

/** Whether a token other than `*` stands for a character. */
function isOne(token: Exclude<Token, 'any characters'>, code: number): boolean {
  if (typeof token === 'number') return token === code;
  if (token === 'any character') return true;
  return token.ranges.some(([from, to]) => from <= code && code <= to) !== token.isNegated;
}

const unitsOf = (code: number): number => (code > 0xffff ? 2 : 1);
