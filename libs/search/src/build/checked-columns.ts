import type { FeatureColumns, FeatureReader } from '@halogrid/results/feature-reader';

/**
 * A row group of a features.parquet, the number of counts of its histograms, and how many channels count exactly
 * `counted` pixels, the first ones.
 */
export interface RowGroupOrder {
  readonly rowGroup: number;
  readonly bins: number;
  readonly channels: number;
  readonly evenChannels: number;
}

/**
 * The columns of a row group. Rejects if it cannot be decoded, or the bins of a row do not add up to the pixels counted
 * in the channels that must.
 */
export async function checkedColumns(
  reader: FeatureReader,
  { rowGroup, bins, channels, evenChannels }: RowGroupOrder,
): Promise<FeatureColumns> {
  const rows = await reader.columns(rowGroup, bins);
  const { histogram, counted } = rows;
  const ofChannel = bins / channels;
  for (let row = 0, at = 0; row < counted.length; row++) {
    for (let channel = 0; channel < channels; channel++) {
      let sum = 0;
      for (const end = at + ofChannel; at < end; at++) sum += histogram[at]!;
      if (sum === counted[row] || channel >= evenChannels) continue;
      const source = rows.source.texts[rows.source.numbers[row]!];
      throw new Error(`bins of frame ${rows.frame[row]} of '${source}' do not add up to the pixels counted`);
    }
  }
  return rows;
}
