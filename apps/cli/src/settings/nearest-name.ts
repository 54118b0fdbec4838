/** Letters that may differ, of a name of so many. */
const mostDifferent = (letters: number): number => Math.min(3, Math.floor(letters / 3));

/** The name that was probably meant, by the letters that differ; undefined where none is near. */
export function nearestName(typed: string, names: Iterable<string>): string | undefined {
  let nearest: { name: string; distance: number } | undefined;
  for (const name of names) {
    const distance = distanceOf(typed, name);
    if (distance <= mostDifferent(name.length) && distance < (nearest?.distance ?? Infinity))
      nearest = { name, distance };
  }
  return nearest?.name;
}

/** A clause for the end of a sentence about a name: ` (did you mean 'tile'?)`; empty where none is near. */
export function didYouMean(typed: string, names: Iterable<string>): string {
  const name = nearestName(typed, names);
  return name === undefined ? '' : ` (did you mean ${name}?)`;
}

/** Letters to insert, remove or replace, and neighbours to exchange, at least. */
function distanceOf(a: string, b: string): number {
  let [before, last]: number[][] = [[], Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1];
      const isExchanged = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const edits = [last![j]! + 1, row[j - 1]! + 1, last![j - 1]! + (isSame ? 0 : 1)];
      row.push(Math.min(...edits, ...(isExchanged ? [before![j - 2]! + 1] : [])));
    }
    [before, last] = [last, row];
  }
  return last![b.length]!;
}
