/*
 * Memory for encoded files and for interleaved pixels, used again for the next: at thousands of frames a second the
 * garbage collector would otherwise take more of the main thread than all the rest of opening and decoding them
 * (measured: 0.1 ms a frame, encoded files of 270 kB each).
 */

/** The most bytes that are kept for later: a few batches of frames. */
const maxIdleBytes = 2 ** 27;

const idle = new Map<number, ArrayBuffer[]>();
let idleBytes = 0;

/** Returns `length` bytes with any content. */
export function takeBytes(length: number): Buffer<ArrayBuffer> {
  const capacity = Math.max(4096, 2 ** Math.ceil(Math.log2(length)));
  const memory = idle.get(capacity)?.pop();
  if (memory) idleBytes -= capacity;
  return Buffer.from(memory ?? Buffer.allocUnsafeSlow(capacity).buffer, 0, length);
}

/** Nobody may use `bytes`, which came from `takeBytes`, after this. */
export function giveBackBytes(bytes: Buffer<ArrayBuffer>): void {
  const capacity = bytes.buffer.byteLength;
  if (idleBytes + capacity > maxIdleBytes) return;
  idleBytes += capacity;
  const same = idle.get(capacity);
  if (same) same.push(bytes.buffer);
  else idle.set(capacity, [bytes.buffer]);
}
