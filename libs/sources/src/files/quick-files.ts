import {
  close as closeCallback,
  closeSync,
  constants,
  open as openCallback,
  openSync,
  read as readCallback,
  readSync,
  type Stats,
  statSync,
} from 'node:fs';
import { stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { isMainThread } from 'node:worker_threads';

/** Opens a file for reading. Without O_NONBLOCK, opening a FIFO waits for a writer. */
export const forReading = constants.O_RDONLY | constants.O_NONBLOCK;

/** A call that the file system answers from memory is much faster than this, and one that it fetches is much slower. */
const quickMs = 0.5;
/** The least bytes that are copied from memory in a millisecond; disks may give less. */
const quickBytesAMs = 1e6;
/** Calls after a slow one that are made aside, before another is tried. */
const callsAside = 256;

const openAside = promisify(openCallback);
const readAside = promisify(readCallback);
const closeAside = promisify(closeCallback);

/**
 * Small calls of the file system, for threads that make many. On a virtual machine, a call on libuv's pool takes 30 to
 * 40 µs of the calling thread, and a few if the thread makes the call itself (measured). But only on the pool do many
 * calls wait side by side for a disk or a server. So a worker thread makes calls itself as long as they are quick: it
 * plans 20,000 JPEGs in 0.6 s instead of 1.6 (measured). The main thread never does: it has to answer others even while
 * a file server hangs.
 */
export class QuickFiles {
  readonly #mayWait: boolean;
  readonly #nowMs: () => number;
  #aside = 0;

  constructor(mayWait = !isMainThread, nowMs: () => number = () => performance.now()) {
    this.#mayWait = mayWait;
    this.#nowMs = nowMs;
  }

  /** Follows links. Throws or rejects as node:fs does; so do the other methods. */
  stat(path: string): Stats | Promise<Stats> {
    return this.#call(
      () => statSync(path),
      () => stat(path),
    );
  }

  /** A descriptor for reading. Never waits for a FIFO. */
  open(path: string): number | Promise<number> {
    return this.#call(
      () => openSync(path, forReading),
      () => openAside(path, forReading),
    );
  }

  /** The number of bytes that were read. */
  read(file: number, into: Uint8Array, position: number): number | Promise<number> {
    return this.#call(
      () => readSync(file, into, 0, into.length, position),
      async () => (await readAside(file, into, 0, into.length, position)).bytesRead,
      quickMs + into.length / quickBytesAMs,
    );
  }

  close(file: number): void | Promise<void> {
    return this.#call(
      () => closeSync(file),
      () => closeAside(file),
    );
  }

  #call<T>(here: () => T, aside: () => Promise<T>, withinMs = quickMs): T | Promise<T> {
    if (!this.#mayWait) return aside();
    if (this.#aside > 0) {
      this.#aside--;
      return aside();
    }
    const startedMs = this.#nowMs();
    try {
      return here();
    } finally {
      if (this.#nowMs() - startedMs > withinMs) this.#aside = callsAside;
    }
  }
}

export const quickFiles = new QuickFiles();
