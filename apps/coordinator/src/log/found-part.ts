import { crc32 } from 'node:zlib';
import { cellsOf } from '@halogrid/kernels/grid';
import { noZone } from '@halogrid/proto/frame-table';
import {
  binsOfCell,
  binsOfSource,
  digestedBins,
  type HistogramShape,
  isOneCell,
} from '@halogrid/results/histogram-shape';
import { packCounts, packSums } from '@halogrid/results/part-sums';
import { sourceDigest } from '@halogrid/results/source-digest';
import { Totals } from '@halogrid/results/totals';
import type { CaptureTime } from '@halogrid/sources/captured';
import type { FoundPart } from './fact.ts';
import { FrameRows } from './frame-rows.ts';

/** The bins of all cells of an image, in whose result are those of the cells that it touches. */
export function wholeBins(
  shape: HistogramShape,
  { size, bins }: { size: ImageResult['size']; bins: ArrayLike<number> },
): ArrayLike<number> {
  if (bins.length === binsOfSource(shape)) return bins;
  const all = new Float64Array(binsOfSource(shape));
  const cellBins = binsOfCell(shape);
  let from = 0;
  for (const { row, column } of cellsOf(shape.grid, size, { x: 0, y: 0, ...size })) {
    for (let i = 0; i < cellBins; i++) all[(row * shape.grid.columns + column) * cellBins + i] = bins[from++]!;
  }
  return all;
}

/** What a pipeline found of one image; `bins` are those of all cells. */
export interface ImageResult {
  size: { width: number; height: number };
  counted: number;
  bins: ArrayLike<number>;
  captured?: CaptureTime;
}

/** Images, in order of source, as a fact has what a pipeline found of them. */
export function foundPart(shape: HistogramShape, images: readonly ImageResult[]): FoundPart {
  const rows = new FrameRows(
    images.length,
    images.some(({ captured }) => captured),
  );
  rows.localMs?.fill(Number.NaN);
  const totals = new Totals(binsOfCell(shape));
  const packed = images.map(({ size, counted, bins, captured }, row) => {
    const counts = packCounts(bins);
    rows.widths[row] = size.width;
    rows.heights[row] = size.height;
    rows.counted[row] = counted;
    rows.lengths[row] = counts.length;
    rows.checksums[row] = crc32(counts);
    rows.digests.set(sourceDigest(size, counted, digestedBins(shape, bins)), 32 * row);
    if (captured) {
      rows.localMs![row] = captured.localMs;
      rows.offsetMinutes![row] = captured.offsetMinutes ?? noZone;
    }
    totals.add(bins, size.width * size.height);
    return counts;
  });
  const counted = images.reduce((sum, image) => sum + BigInt(image.counted), 0n);
  const sums = packSums(counted, totals.sums);
  return {
    ...(images.length === 1 && isOneCell(shape.grid) ? { counted: sums.counted } : sums),
    stored: Buffer.concat([...packed, rows.bytes]),
    countsBytes: packed.reduce((sum, { length }) => sum + length, 0),
    rowsChecksum: crc32(rows.bytes),
  };
}
