import { binsOfCell, type HistogramShape } from '@halogrid/results/histogram-shape';
import { packSums } from '@halogrid/results/part-sums';
import type { FoundInPart } from '@halogrid/results/part-writer';
import { Totals } from '@halogrid/results/totals';

/** A pipeline's result of an image; `bins` has the bins of all cells. */
export interface FoundImage {
  counted: number;
  bins: ArrayLike<number>;
}

/** For tests: results of images, one array per pipeline, in the form of a fact. Their part does not exist. */
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
