/** More than that are no pattern that a person wrote. */
const maxAlternatives = 10_000;

/**
 * The texts that a pattern with braces stands for, in order: `a{b,c}` is ab and ac, `{8..10}` is 8, 9 and 10, `{08..10}` is
 * 08, 09 and 10. Braces may be nested; those that hold neither a comma nor a range are braces. Throws RangeError for
 * more than 10,000.
 */
export function expandBraces(pattern: string): string[] {
  const braces = firstBraces(pattern);
  if (!braces) return [pattern];
  const { start, end, commas } = braces;
  const before = pattern.slice(0, start);
  const ends = expandBraces(pattern.slice(end + 1));
  const inner = alternativesOf(pattern.slice(start + 1, end), commas);
  const middles = inner ?? expandBraces(pattern.slice(start + 1, end)).map((text) => `{${text}}`);
  if (middles.length * ends.length > maxAlternatives) {
    throw new RangeError(`Expected at most ${maxAlternatives} alternatives in the braces of '${pattern}'`);
  }
  return middles.flatMap((middle) => ends.map((rest) => `${before}${middle}${rest}`));
}

/** The first braces that are closed, and the commas in them, counted from behind the opening one. */
function firstBraces(text: string): { start: number; end: number; commas: number[] } | undefined {
  for (let start = text.indexOf('{'); start >= 0; start = text.indexOf('{', start + 1)) {
    const commas: number[] = [];
    for (let i = start, depth = 0; i < text.length; i++) {
      if (text[i] === '{') depth++;
      else if (text[i] === ',' && depth === 1) commas.push(i - start - 1);
      else if (text[i] === '}' && --depth === 0) return { start, end: i, commas };
    }
  }
  return undefined;
}

/** Undefined where the text between the braces is neither a list nor a range. */
function alternativesOf(text: string, commas: readonly number[]): string[] | undefined {
  if (commas.length > 0) {
    const cuts = [-1, ...commas, text.length];
    return cuts.slice(1).flatMap((end, i) => expandBraces(text.slice(cuts[i]! + 1, end)));
  }
  const [, from, to] = /^(\d{1,15})\.\.(\d{1,15})$/.exec(text) ?? [];
  if (!from || !to) return undefined;
  const width = /^0\d/.test(from) || /^0\d/.test(to) ? Math.max(from.length, to.length) : 0;
  const direction = Number(from) <= Number(to) ? 1 : -1;
  const count = Math.abs(Number(to) - Number(from)) + 1;
  if (count > maxAlternatives) {
    throw new RangeError(`Expected at most ${maxAlternatives} alternatives in the braces but received '{${text}}'`);
  }
  return Array.from({ length: count }, (_, i) => String(Number(from) + direction * i).padStart(width, '0'));
}
