import type { FeatureRow } from '@halogrid/results/features';
import { binsOfCell, type HistogramShape } from '../ledger/histogram-shape.ts';
import type { FrameOfVideo } from '../shard.ts';

/**
 * The rows of a source in features.parquet: one for each of its cells, row by row, those without pixels too. `bins` is laid
 * out as `shape` says; a row is valid as long as it.
 */
export function* featureRows(
  { uri, video }: { uri: string; video?: FrameOfVideo },
  bins: Float64Array,
  shape: HistogramShape,
): Generator<FeatureRow> {
  const { frame, timestampMs } = video ?? { frame: 0, timestampMs: null };
  const { rows, columns } = shape.grid;
  const cellBins = binsOfCell(shape);
  for (let cell = 0; cell < rows * columns; cell++) {
    const histogram = bins.subarray(cell * cellBins, (cell + 1) * cellBins);
    // Every channel counts the same pixels.
    let counted = 0;
    for (let bin = 0; bin < shape.bins; bin++) counted += histogram[bin]!;
    const [cellRow, cellColumn] = [Math.floor(cell / columns), cell % columns];
    yield { source: uri, frame, timestampMs, cellRow, cellColumn, counted, histogram };
  }
}
