import type { Matrices } from '../counts/histogram-shape.ts';
import { matrixStatistics, statisticNames } from '../histograms/matrix-statistics.ts';
import type { HistogramList } from './histogram-list.ts';

/**
 * The names of the columns that matrices add, e.g. `contrast_1_45`: the statistic, the distance and the angle; of
 * several bands `contrast_band_2_1_45`.
 */
export const matrixColumnNames = (matrices: Matrices | undefined): string[] =>
  statisticNames.flatMap(
    (statistic) => matrices?.names.map((name) => `${statistic}_${name.replaceAll(/, |[ @]/g, '_')}`) ?? [],
  );

/** The columns of a page of `rows` rows, in the order of their names. A matrix without pairs has none of them. */
export function matrixColumns({ levels, names }: Matrices, histograms: HistogramList, rows: number): Float64Array[] {
  const columns = statisticNames.map(() => names.map(() => new Float64Array(rows).fill(Number.NaN)));
  for (let row = 0; row < rows; row++) {
    const counts = histograms.row(row);
    for (let channel = 0; channel < names.length; channel++) {
      const found = matrixStatistics(counts.subarray(channel * levels ** 2, (channel + 1) * levels ** 2), levels);
      if (!found) continue;
      for (const [i, statistic] of statisticNames.entries()) columns[i]![channel]![row] = found[statistic];
    }
  }
  return columns.flat();
}
