import { createRequire } from 'node:module';

let loaded: typeof import('koffi') | undefined;

/**
 * Calls on other threads that wait or run at once and have memory that is kept. A call beyond them gets its own and
 * gives it back: with 8, as koffi has them, ordering one took 23 µs where 16 were on their way, and 5 with as many as
 * that (measured).
 */
const keptCalls = 32;

function load(): typeof import('koffi') {
  const koffi = createRequire(import.meta.url)('koffi') as typeof import('koffi');
  koffi.config({ resident_async_pools: keptCalls });
  return koffi;
}

/**
 * What calls native code, once something needs it: loading it takes 10 ms of every thread (measured), and few call any.
 */
export function loadKoffi(): typeof import('koffi') {
  loaded ??= load();
  return loaded;
}
