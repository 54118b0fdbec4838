import type { FeatureColumns, FeatureReader } from '@halogrid/results/feature-reader';

/** A row group of a features.parquet, and the numbers of counts and channels of its histograms. */
export interface RowGroupOrder {
  readonly rowGroup: number;
  readonly bins: number;
  readonly channels: number;
}

/**
 * The columns of a row group. Rejects if it cannot be decoded, or the bins of a row do not add up to the pixels counted
 * in every channel.
 */
export async function checkedColumns(
  reader: FeatureReader,
  { rowGroup, bins, channels }: RowGroupOrder,
): Promise<FeatureColumns> {
  const rows = await reader.columns(rowGroup, bins);
  const { histogram, counted } = rows;
  const ofChannel = bins / channels;
  for (let row = 0, at = 0; row < counted.length; row++) {
    for (let channel = 0; channel < channels; channel++) {
      let sum = 0;
      for (const end = at + ofChannel; at < end; at++) sum += histogram[at]!;
      if (sum === counted[row]) continue;
      const source = rows.source.texts[rows.source.numbers[row]!];
      throw new Error(`bins of frame ${rows.frame[row]} of '${source}' do not add up to the pixels counted`);
    }
  }
  return rows;
}
