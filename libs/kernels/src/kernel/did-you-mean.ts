/** Longer texts are not taken for misspelt words. */
const longestWord = 40;
const mostEdits = 2;

/** ` (did you mean lbp?)` if one of `words` is similar to `written`; otherwise empty. */
export function didYouMean(written: string, words: readonly string[]): string {
  const word = nearestWord(written, words);
  return word === undefined ? '' : ` (did you mean ${word}?)`;
}

/** The most similar of `words`; undefined if none is similar. */
export function nearestWord(written: string, words: readonly string[]): string | undefined {
  if (written.length > longestWord) return undefined;
  const given = plain(written);
  let nearest: string | undefined;
  let least = Math.min(mostEdits, Math.floor(given.length / 2)) + 1;
  for (const word of words) {
    const found = plain(word);
    const isPart = isBeginning(given, found) || isBeginning(found, given);
    const distance = isPart
      ? 0.5 + Math.abs(found.length - given.length) / longestWord
      : areShort(given, found)
        ? Number.POSITIVE_INFINITY
        : editsBetween(given, found);
    if (distance < least) [nearest, least] = [word, distance];
  }
  return nearest;
}

/** Makes `map_format`, `map-format` and `mapFormat` the same word. */
const plain = (word: string): string => word.toLowerCase().replaceAll(/[-_]/g, '');

const isBeginning = (a: string, b: string): boolean => a.length >= 3 && a.length < b.length && b.startsWith(a);

/**
 * Words of up to three letters are too often similar by chance, as cpu and gpu are; they only match if they have the
 * same letters.
 */
const areShort = (a: string, b: string): boolean =>
  Math.max(a.length, b.length) <= 3 && [...a].sort().join('') !== [...b].sort().join('');

/** The number of characters to insert, remove, replace or swap with the next one. */
function editsBetween(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = last[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row.push(Math.min(last[j]! + 1, row[j - 1]! + 1, replaced, isSwap ? before[j - 2]! + 1 : replaced));
    }
    [before, last] = [last, row];
  }
  return last[b.length]!;
}
