/**
 * The index of the sample from which on a sequence looks as after a change, 0 to the number of samples. It is the split
 * with the least sum of distances: of the samples before it to the look before, and of the samples behind it to the
 * look after.
 */
export function changePoint(fromBefore: ArrayLike<number>, fromAfter: ArrayLike<number>): number {
  let [cost, least, split] = [0, 0, 0];
  for (let i = 0; i < fromBefore.length; i++) {
    cost += fromBefore[i]! - fromAfter[i]!;
    if (cost < least) [least, split] = [cost, i + 1];
  }
  return split;
}
