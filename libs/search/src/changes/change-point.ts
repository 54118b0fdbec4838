/**
 * From which of the samples on a sequence looks like what came after: the split with the least sum of distances, to
 * what was before in front of it and to what came after behind it. 0 to the number of samples.
 */
export function changePoint(fromBefore: ArrayLike<number>, fromAfter: ArrayLike<number>): number {
  let [cost, least, split] = [0, 0, 0];
  for (let i = 0; i < fromBefore.length; i++) {
    cost += fromBefore[i]! - fromAfter[i]!;
    if (cost < least) [least, split] = [cost, i + 1];
  }
  return split;
}
