import { createRequire } from 'node:module';

let loaded: typeof import('koffi') | undefined;

/**
 * Calls, waiting or running on other threads, that have memory kept for them. A call beyond that number allocates its
 * own memory and frees it. With koffi's default of 8, starting a call took 23 µs with 16 calls under way, and 5 µs with
 * 16 kept (measured).
 */
const keptCalls = 32;

function load(): typeof import('koffi') {
  const koffi = createRequire(import.meta.url)('koffi') as typeof import('koffi');
  koffi.config({ resident_async_pools: keptCalls });
  return koffi;
}

/**
 * koffi, which calls native code. Loaded when it is needed: loading takes 10 ms in every thread (measured), and few
 * threads need it.
 */
export function loadKoffi(): typeof import('koffi') {
  loaded ??= load();
  return loaded;
}
