export { endThread, endWhenAsked } from './end-thread.ts';
export { runParallel } from './for-each-limited.ts';
export { atMost } from './limit-concurrency.ts';
export { poolThreads } from './pool-threads.ts';
export { Turns } from './turns.ts';
