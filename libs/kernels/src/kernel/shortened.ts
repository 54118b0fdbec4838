/** Default: characters of a value that a sentence shows, enough to recognise it. */
const shownCharacters = 200;

/** Characters that a terminal or log viewer would interpret and not show, or that change the direction of text. */
const unprintable = /[\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

/**
 * A value for a sentence that a person reads: at most `most` characters, the last one `…` if some were left out.
 * Characters that cannot be shown, such as control characters, become \u{…}.
 */
export function shortened(value: unknown, most = shownCharacters): string {
  // Long values are cut first: replacing characters takes a while for megabytes.
  const text = String(value).slice(0, most + 1);
  const shown = text.replace(unprintable, (found) => `\\u{${found.codePointAt(0)!.toString(16)}}`);
  return shown.length > most ? `${shown.slice(0, most - 1).toWellFormed()}…` : shown;
}
