// What devices need of the runtime: settings of this process that hold for all of it.
import { setFlagsFromString } from 'node:v8';

/**
 * Keeps the garbage collector from chasing device memory. Each mapping of upload memory, and each buffer moved between
 * threads, looks to V8 like so much newly allocated, and past 64 MB it collects garbage to get it back. Accounted for in
 * the limit of the whole heap, it does not. Measured: on an H200 with 1,400 frames/s a quarter of the main thread and a
 * core of collector threads; on two cores without a GPU a tenth of all time.
 */
export function spareCollector(): void {
  setFlagsFromString('--external-memory-accounted-in-global-limit');
}

/** Between two looks at what a device has done. SwiftShader takes longer for a batch, and a thousand times as long to compile. */
const betweenLooksMs = 1;

/**
 * Has Dawn look once a millisecond for what a device has done. Its bindings look in every turn of the event loop for as long as
 * anything is awaited, by setImmediate of the global object, which keeps the main thread busy on a core that SwiftShader would
 * compute and compile on. Measured: eight kernels take 6 s of processor time to compile instead of 12 s.
 */
export function pollDawnCalmly(): void {
  const { setImmediate: atOnce } = globalThis;
  const calmly = (callback: (...given: unknown[]) => void, ...given: unknown[]): unknown =>
    isNative(callback) ? setTimeout(callback, betweenLooksMs, ...given) : atOnce(callback, ...given);
  Object.defineProperties(calmly, Object.getOwnPropertyDescriptors(atOnce));
  globalThis.setImmediate = calmly as typeof atOnce;
}

/** Whether a function is not written in JavaScript, as Dawn's are; those that resolve a promise are not, either, and may wait. */
const isNative = (callback: unknown): boolean => String(callback).endsWith('{ [native code] }');
