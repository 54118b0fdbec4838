/** Replaced in this order, because quoted text may be a path, and a path may hold numbers. */
const specifics: readonly [what: RegExp, placeholder: string][] = [
  // A quote inside a word is an apostrophe.
  [/(?<![\p{L}\p{N}])'.*?'(?![\p{L}\p{N}])/gsu, "'…'"],
  [/(?<![\p{L}\p{N}])".*?"(?![\p{L}\p{N}])/gsu, "'…'"],
  [/\b[a-z][a-z0-9+.-]*:\/\/[^\s'"]*[^\s'",.;:)]/giu, "'…'"],
  // A slash inside a word does not make a path: and/or.
  [/(?<![\p{L}\p{N}])\.{0,2}\/[^\s'"]*[^\s'",.;:)]/gu, "'…'"],
  [/\b0x[0-9a-f]+\b/giu, 'N'],
  [/\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{6,}\b/giu, 'N'],
  [/\d+(?:[.,]\d+)*/gu, 'N'],
];

/**
 * A sentence with placeholders for its numbers (decimal, hexadecimal), quoted names, paths and URIs. It is equal for
 * sentences that say the same about different inputs.
 */
export function kindOfSentence(sentence: string): string {
  let kind = sentence;
  for (const [what, placeholder] of specifics) kind = kind.replace(what, placeholder);
  return kind;
}
