import { binsOfCell, type HistogramShape } from '@halogrid/results/histogram-shape';
import { packSums } from '@halogrid/results/part-sums';
import type { FoundInPart } from '@halogrid/results/part-writer';
import { Totals } from '@halogrid/results/totals';

/** What a pipeline found of an image; `bins` are those of all cells. */
export interface FoundImage {
  counted: number;
  bins: ArrayLike<number>;
}

/** For tests: what pipelines found of images, an array each, as a fact has it; of a part that is nowhere. */
export function foundImages(
  shapes: readonly HistogramShape[],
  images: readonly (readonly FoundImage[])[],
  pixels: number,
): FoundInPart {
  const parts = shapes.map((shape, i) => {
    const totals = new Totals(binsOfCell(shape));
    for (const { bins } of images[i]!) totals.add(bins, Math.max(0, ...Array.from(bins)));
    return packSums(
      images[i]!.reduce((sum, { counted }) => sum + BigInt(counted), 0n),
      totals.sums,
    );
  });
  return { part: 'part', places: [], found: images[0]!.length, pixels, digest: new Uint8Array(32), parts };
}
