import { isMainThread } from 'node:worker_threads';
import { loadKoffi } from '@halogrid/threads/load-koffi';

/**
 * Calls of the C library that read folders many entries at a time. Numbers are as the calls have them; pointers are
 * addresses.
 */
export interface NativeCalls {
  getdents64(folder: number, into: Buffer, bytes: number): number | bigint;
  statx(folder: number, path: number, flags: number, mask: number, into: Buffer): number;
  /** The address of a buffer's bytes, valid while the buffer is held. */
  addressOf(bytes: Buffer): number;
  /** The error number of the last call that failed. */
  errno(): number;
}

let opened: NativeCalls | undefined;
let isOpened = false;

/**
 * Undefined on the main thread, which has to answer others while a file server hangs, and on systems other than Linux
 * with glibc 2.30 or later. Loading koffi takes 10 ms of a thread (measured).
 */
export function nativeCalls(mayWait = !isMainThread): NativeCalls | undefined {
  if (!mayWait || process.platform !== 'linux') return undefined;
  if (!isOpened) opened = open();
  isOpened = true;
  return opened;
}

function open(): NativeCalls | undefined {
  try {
    const koffi = loadKoffi();
    const libc = koffi.load('libc.so.6');
    return {
      getdents64: libc.func('intptr_t getdents64(int folder, void *into, size_t bytes)'),
      statx: libc.func('int statx(int folder, uintptr_t path, int flags, unsigned int mask, void *into)'),
      addressOf: (bytes) => Number(koffi.address(bytes)),
      errno: () => koffi.errno(),
    };
  } catch {
    return undefined;
  }
}
