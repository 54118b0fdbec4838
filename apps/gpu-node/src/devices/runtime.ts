// What devices need of the runtime: settings of this process that hold for all of it.
import { setFlagsFromString } from 'node:v8';
import { collectorFlags } from '@halogrid/threads/collector-flags';

/** V8 collects garbage once so much memory outside of its heap looks new. */
const collectsAfterBytes = 64 * 2 ** 20;

/** How much memory devices of this process have given out, up to `collectsAfterBytes`. */
let givenBytes = 0;

/**
 * Keeps the garbage collector from chasing memory that a device gives out. Each mapping of upload memory, and each
 * buffer moved between threads, looks to V8 like so much newly allocated, and past 64 MB it collects garbage to get it
 * back. Accounted for in the limit of the whole heap, it does not. Measured: on an H200 with 1,400 frames/s a quarter
 * of the main thread and a core of collector threads; on two cores without a GPU a tenth of all time. The flag is not
 * set before: with it V8 refuses all code that was compiled without, Node's own as well, and what is loaded later is
 * compiled once more, 50 ms of processor time of a node that computes one small image (measured).
 */
export function spareCollector(bytes: number): void {
  if (givenBytes >= collectsAfterBytes) return;
  givenBytes += bytes;
  if (givenBytes >= collectsAfterBytes) for (const flag of collectorFlags) setFlagsFromString(flag);
}

/** Between two looks at what a device has done that takes longer. */
const betweenLooksMs = 1;

/** Batches that devices of this process have under way, also while they are read. */
let batches = 0;
export const batchBegun = (): void => void batches++;
export const batchEnded = (): void => void batches--;

/**
 * Has Dawn look once a millisecond for what a device has done, once it has looked for `eagerMs` in every turn of the
 * event loop; or at once where several batches are under way, which wait for one another and not for looks. Its
 * bindings look in every turn for as long as anything is awaited, by setImmediate of the global object: that keeps the
 * main thread busy, on a core that SwiftShader would compute and compile on. Measured: eight kernels take 6 s of
 * processor time to compile instead of 12 s.
 */
export function pollDawnCalmly(eagerMs: number, nowMs: () => number = () => performance.now()): void {
  const { setImmediate: atOnce } = globalThis;
  /** Since when something has been awaited without a pause. */
  let sinceMs = 0;
  let isLooking = false;
  const look = (callback: Callback, ...given: unknown[]): void => {
    isLooking = true;
    try {
      callback(...given);
    } finally {
      isLooking = false;
    }
  };
  const calmly = (callback: Callback, ...given: unknown[]): unknown => {
    if (!isNative(callback)) return atOnce(callback, ...given);
    // Where something is still awaited, a look asks for the next.
    if (!isLooking) sinceMs = nowMs();
    if (batches < 2 && nowMs() - sinceMs < eagerMs) return atOnce(look, callback, ...given);
    return setTimeout(look, betweenLooksMs, callback, ...given);
  };
  Object.defineProperties(calmly, Object.getOwnPropertyDescriptors(atOnce));
  globalThis.setImmediate = calmly as typeof atOnce;
}

type Callback = (...given: unknown[]) => void;

/**
 * Whether a function is not written in JavaScript, as Dawn's are; those that resolve a promise are not, either, and may
 * wait.
 */
const isNative = (callback: unknown): boolean => String(callback).endsWith('{ [native code] }');
