import type { Hit } from '../ranking/hit.ts';
import type { Catalog } from '../store/catalog.ts';
import type { ScanOrder } from './scan-index.ts';

/** A search of a whole index. */
export type Wanted = Pick<ScanOrder, 'queries' | 'distance' | 'top' | 'unit' | 'filter'>;

/**
 * A way to search an index. The hits are the same, to the bit, in every implementation: they are given by definition.
 * Only the time differs. Start a search only when the last one is over.
 */
export interface IndexScan {
  /** The best hits for each query, in order. Rejects with IndexError if the index is damaged. */
  find(wanted: Wanted): Promise<Hit[][]>;
  close(): Promise<void>;
}

/** Makes a scan of an open index, which must stay open until the scan is closed. */
export type OpenScan = (catalog: Catalog) => Promise<IndexScan>;
