// Settings of the runtime, for the whole process, that devices need.
import { setFlagsFromString } from 'node:v8';
import { collectorFlags } from '@halogrid/threads/collector-flags';

/** V8 collects garbage once this much memory outside of its heap looks new. */
const collectsAfterBytes = 64 * 2 ** 20;

/** Bytes that devices of this process have given out, counted up to `collectsAfterBytes`. */
let givenBytes = 0;

/**
 * Keeps the garbage collector from chasing memory that a device gives out. Each mapping of upload memory, and each
 * buffer moved between threads, looks to V8 like newly allocated memory. Past 64 MB it collects garbage to get that
 * back, unless such memory counts against the limit of the whole heap. Measured: on an H200 with 1,400 frames/s
 * collecting took a quarter of the main thread and a core of collector threads; on two cores without a GPU, a tenth of
 * all time. The flag is set no earlier, because with it V8 rejects all code cached without it, Node's own as well, and
 * compiles it again as it is loaded: 50 ms of processor time of a node that computes one small image (measured).
 */
export function spareCollector(bytes: number): void {
  if (givenBytes >= collectsAfterBytes) return;
  givenBytes += bytes;
  if (givenBytes >= collectsAfterBytes) for (const flag of collectorFlags) setFlagsFromString(flag);
}

/** The pause between two looks at what the device has done, once the work takes longer. */
const betweenLooksMs = 1;

/** Batches that devices of this process have under way, including those being read. */
let batches = 0;
export const batchBegun = (): void => void batches++;
export const batchEnded = (): void => void batches--;

/**
 * Makes Dawn look once a millisecond for what a device has done. During the first `eagerMs` of waiting it still looks
 * in every turn of the event loop; not if several batches are under way, because these wait for one another and not for
 * looks. Dawn's bindings call the global setImmediate, and look in every turn as long as anything is awaited. That
 * keeps the main thread busy, on a core that SwiftShader would use. Measured: eight kernels take 6 s of processor time
 * to compile instead of 12 s.
 */
export function pollDawnCalmly(eagerMs: number, nowMs: () => number = () => performance.now()): void {
  const { setImmediate: atOnce } = globalThis;
  /** The time since which something has been awaited without a pause. */
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
    // A look asks for the next one while something is still awaited.
    if (!isLooking) sinceMs = nowMs();
    if (batches < 2 && nowMs() - sinceMs < eagerMs) return atOnce(look, callback, ...given);
    return setTimeout(look, betweenLooksMs, callback, ...given);
  };
  Object.defineProperties(calmly, Object.getOwnPropertyDescriptors(atOnce));
  globalThis.setImmediate = calmly as typeof atOnce;
}

type Callback = (...given: unknown[]) => void;

/** Whether a function is native, as Dawn's are. The functions that resolve a promise are native too, and may wait. */
const isNative = (callback: unknown): boolean => String(callback).endsWith('{ [native code] }');
