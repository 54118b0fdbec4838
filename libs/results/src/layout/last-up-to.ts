/** The index of the last of the ascending `numbers` that is at most `number`; 0 if all are greater. */
export function lastUpTo(numbers: readonly number[], number: number): number {
  let [from, to] = [0, numbers.length];
  while (to - from > 1) {
    const middle = Math.floor((from + to) / 2);
    if (numbers[middle]! <= number) from = middle;
    else to = middle;
  }
  return from;
}
