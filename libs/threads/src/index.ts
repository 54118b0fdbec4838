export { endThread, endWhenAsked } from './end-thread.ts';
export { forEachLimited } from './for-each-limited.ts';
export { limitConcurrency, poolThreads } from './limit-concurrency.ts';
export { type ServeOptions, serveOrders } from './serve-orders.ts';
export { ThreadClient, type ThreadClientOptions } from './thread-client.ts';
export { Turns } from './turns.ts';
