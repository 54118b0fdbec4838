// Runs in a worker thread: compresses tiles of maps for CompressThreads.
import { serveOrders } from '@halogrid/threads';
import type { MapCodec } from '../layout/map-codec.ts';
import { compressTile } from './compress-tile.ts';

export interface CompressOrder {
  codec: MapCodec;
  bytes: Uint8Array;
}

serveOrders<CompressOrder, Uint8Array>(({ codec, bytes }) => compressTile(codec, bytes));
