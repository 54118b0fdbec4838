/** Characters of a value that a sentence shows, unless it says otherwise: enough to know it again. */
const shownCharacters = 200;

/** What a terminal or the reader of a log would act on instead of showing it, and what moves text about. */
const unprintable = /[\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

/**
 * A value for a sentence that a person reads: at most `most` characters of it, and `…` for what is left out. What is
 * not to be shown as it is, such as control characters, stands there as \u{…}.
 */
export function shortened(value: unknown, most = shownCharacters): string {
  // A long one is cut first: what follows takes a while for megabytes.
  const text = String(value).slice(0, most + 1);
  const shown = text.replace(unprintable, (found) => `\\u{${found.codePointAt(0)!.toString(16)}}`);
  return shown.length > most ? `${shown.slice(0, most - 1).toWellFormed()}…` : shown;
}
