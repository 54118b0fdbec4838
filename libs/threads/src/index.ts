export { Budget } from './budget.ts';
export { endThread, endWhenAsked } from './end-thread.ts';
export { forEachLimited } from './for-each-limited.ts';
export { limitConcurrency, poolThreads } from './limit-concurrency.ts';
export { type MapAheadOptions, mapAhead } from './map-ahead.ts';
export { type ServeOptions, serveOrders } from './serve-orders.ts';
export { SpareThread } from './spare-thread.ts';
export { sayEnd, ThreadClient, type ThreadClientOptions, type ThreadEnd } from './thread-client.ts';
export { Turns } from './turns.ts';
