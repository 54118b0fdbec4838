// Runs in a worker thread: decodes JPEG 2000, because WebAssembly keeps its thread busy.
import { serveOrders } from '@halogrid/threads';
import { decodeStream } from './openjpeg.ts';

serveOrders(decodeStream, { moved: (decoded) => ('bytes' in decoded ? [decoded.bytes.buffer] : []) });
