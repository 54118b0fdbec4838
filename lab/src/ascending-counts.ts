import { named, sentence } from '@halogrid/proto/sentence';
import { UsageError } from '@halogrid/service/usage-error';

/** Makes a parser of whole numbers from 1 that ascend, `1,2,4`, for commander. It throws UsageError. */
export function ascendingCounts(option: string, to: number): (text: string) => number[] {
  return (text) => {
    const counts = text.split(',').map((word) => (/^\d{1,9}$/.test(word) ? Number(word) : Number.NaN));
    if (counts.every((count, i) => count > (counts[i - 1] ?? 0) && count <= to)) return counts;
    throw new UsageError(
      sentence`Expected ascending numbers from 1 to ${to} for ${named(option)}, as in 1,2,4, but received '${text}'`,
    );
  };
}
