// Runs in a worker thread of a SearchIndex: scans blocks as it orders.
import { serveOrders } from '@halogrid/threads';
import type { Hit } from '../ranking/hit.ts';
import { BlockScanner } from '../scan/block-scanner.ts';
import { Catalog } from '../store/catalog.ts';
import { type ScanOrder, scanIndex } from './scan-index.ts';

/** The index comes first, then searches. */
export type SearchOrder = { index: Pick<Catalog, 'pipeline' | 'segments'> } | { scan: ScanOrder };

const scanner = new BlockScanner();
let catalog: Catalog;

serveOrders((order: SearchOrder): Hit[][] => {
  if ('scan' in order) return scanIndex(catalog, scanner, order.scan);
  catalog = new Catalog(order.index.pipeline, order.index.segments);
  return [];
});
