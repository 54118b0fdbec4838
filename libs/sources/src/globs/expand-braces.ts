/** The most alternatives; nobody writes a pattern with more. */
const maxAlternatives = 10_000;
/** The most characters of all alternatives together: a hundred for each of 10,000. */
const maxCharacters = 2 ** 20;

/** Texts, and how many characters they have together. */
interface Texts {
  texts: string[];
  characters: number;
}

/** Braces that are open: the alternatives before the last comma, and what came since. */
interface Level {
  start: number;
  hasComma: boolean;
  before: Texts;
  since: Texts;
}

/**
 * The texts that a pattern with braces stands for, in order: `a{b,c}` is ab and ac, `{8..10}` is 8, 9 and 10,
 * `{08..10}` is 08, 09 and 10. Braces may be nested to any depth. Braces with neither a comma nor a range are plain
 * characters. Throws RangeError for more than 10,000 texts, or more than 2^20 characters in all of them. It takes no
 * longer than writing these.
 */
export function expandBraces(pattern: string): string[] {
  const closed = closedBraces(pattern);
  const levels: Level[] = [];
  let level = newLevel(-1);
  const append = (more: Texts): void => {
    level.since = product(level.since, more);
  };
  const special = /[{},]/g;
  for (let at = 0; at < pattern.length; ) {
    const char = pattern[at]!;
    if (char === '{' && closed.has(at)) {
      levels.push(level);
      level = newLevel(at++);
    } else if (char === '}' && levels.length > 0) {
      const inner = alternativesOf(level, pattern, at++);
      level = levels.pop()!;
      append(inner);
    } else if (char === ',' && levels.length > 0) {
      level.before = sum(level.before, level.since);
      level.since = textsOf(['']);
      level.hasComma = true;
      at++;
    } else {
      special.lastIndex = at + 1;
      const end = special.exec(pattern)?.index ?? pattern.length;
      append(textsOf([pattern.slice(at, end)]));
      at = end;
    }
  }
  return level.since.texts;
}

/** The positions of opening braces that are closed. */
function closedBraces(pattern: string): Set<number> {
  const open: number[] = [];
  const closed = new Set<number>();
  for (const { 0: brace, index } of pattern.matchAll(/[{}]/g)) {
    if (brace === '{') open.push(index);
    else if (open.length > 0) closed.add(open.pop()!);
  }
  return closed;
}

/** The texts for which the braces stand that are closed at `end`. */
function alternativesOf({ start, hasComma, before, since }: Level, pattern: string, end: number): Texts {
  if (hasComma) return sum(before, since);
  const [, from, to] = /^(\d{1,15})\.\.(\d{1,15})$/.exec(pattern.slice(start + 1, end)) ?? [];
  return from && to ? rangeOf(from, to) : textsOf(since.texts.map((text) => `{${text}}`));
}

function rangeOf(from: string, to: string): Texts {
  const width = /^0\d/.test(from) || /^0\d/.test(to) ? Math.max(from.length, to.length) : 0;
  const direction = Number(from) <= Number(to) ? 1 : -1;
  const count = Math.abs(Number(to) - Number(from)) + 1;
  if (count > maxAlternatives) {
    throw new RangeError(
      `Expected at most ${maxAlternatives} alternatives in the braces but received '{${from}..${to}}'`,
    );
  }
  return textsOf(Array.from({ length: count }, (_, i) => String(Number(from) + direction * i).padStart(width, '0')));
}

const newLevel = (start: number): Level => ({
  start,
  hasComma: false,
  before: textsOf([]),
  since: textsOf(['']),
});

const textsOf = (texts: string[]): Texts => ({
  texts,
  characters: texts.reduce((characters, text) => characters + text.length, 0),
});

/** Every one of `a` followed by every one of `b`. */
function product(a: Texts, b: Texts): Texts {
  // Copies of copies would take long for deeply nested braces.
  if (isEmptyText(a)) return b;
  if (isEmptyText(b)) return a;
  const characters = a.characters * b.texts.length + b.characters * a.texts.length;
  checkSize(a.texts.length * b.texts.length, characters);
  const texts: string[] = [];
  for (const start of a.texts) for (const end of b.texts) texts.push(start + end);
  return { texts, characters };
}

const isEmptyText = ({ texts, characters }: Texts): boolean => texts.length === 1 && characters === 0;

/** Both lists may be changed; the caller must not use them again. */
function sum(a: Texts, b: Texts): Texts {
  checkSize(a.texts.length + b.texts.length, a.characters + b.characters);
  if (a.texts.length === 0) return b;
  const characters = a.characters + b.characters;
  // The shorter list moves.
  if (a.texts.length < b.texts.length) {
    b.texts.unshift(...a.texts);
    return { texts: b.texts, characters };
  }
  a.texts.push(...b.texts);
  return { texts: a.texts, characters };
}

function checkSize(alternatives: number, characters: number): void {
  if (alternatives > maxAlternatives) {
    throw new RangeError(`Expected at most ${maxAlternatives} alternatives in the braces`);
  }
  if (characters > maxCharacters) {
    throw new RangeError(`Expected at most ${maxCharacters} characters in all alternatives together`);
  }
}

/**
 * The characters of all texts that the braces of a source's URI stand for; 0 without braces, and for more than
 * expandBraces allows.
 */
export function charactersOfBraces(uri: string): number {
  if (!/%7b|\{/i.test(uri)) return 0;
  try {
    return textsOf(expandBraces(decodeURIComponent(uri))).characters;
  } catch {
    return 0;
  }
}
