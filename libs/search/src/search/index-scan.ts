import type { Hit } from '../ranking/hit.ts';
import type { Catalog } from '../store/catalog.ts';
import type { ScanOrder } from './scan-index.ts';

/** What is to be found in a whole index. */
export type Wanted = Pick<ScanOrder, 'queries' | 'distance' | 'top' | 'unit' | 'filter'>;

/**
 * What looks through an index. Its hits are those of the definition, to the bit, whatever it is; it is only faster or
 * slower. One is asked after another.
 */
export interface IndexScan {
  /** The best hits for each query, in order. Rejects with IndexError where the index is damaged. */
  find(wanted: Wanted): Promise<Hit[][]>;
  close(): Promise<void>;
}

/** Makes a scan of an index that is open, and stays so until after the scan is closed. */
export type OpenScan = (catalog: Catalog) => Promise<IndexScan>;
