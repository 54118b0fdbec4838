import type { HistogramPlace } from '../log/settled-source.ts';
import type { SettledRow } from './ledger.ts';

/** A source that is done, and where its histograms are. */
export type CountedRow = Extract<SettledRow, { state: 'done' }> & { place: HistogramPlace };

/** Those of settled sources that have histograms, in order. */
export const countedRows = (sources: readonly SettledRow[]): CountedRow[] => sources.filter(isCounted);

/** Where the histograms of settled sources are, in order. */
export const placesOf = (sources: readonly SettledRow[]): HistogramPlace[] =>
  countedRows(sources).map(({ place }) => place);

const isCounted = (row: SettledRow): row is CountedRow => row.state === 'done' && row.place !== undefined;
