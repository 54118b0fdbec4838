import { bufferUsage, mapMode } from '@halogrid/kernels/webgpu-flags';

const { MAP_READ, MAP_WRITE, COPY_SRC, COPY_DST, UNIFORM, STORAGE, QUERY_RESOLVE } = bufferUsage;

export const usages = {
  /** Read and written by shaders, written and read by copies. */
  storage: STORAGE | COPY_SRC | COPY_DST,
  uniform: UNIFORM | COPY_DST,
  upload: MAP_WRITE | COPY_SRC,
  readback: MAP_READ | COPY_DST,
  timestamps: QUERY_RESOLVE | COPY_SRC,
} as const;

/** Offsets of bindings in a buffer are multiples of this, on every device. */
export const bindingStep = 256;

/** The device failed: another device may do what it was asked for. */
export class GpuFailure extends Error {}

/** Memory of a device that is used again and again, by name; a buffer grows as more is asked of it. */
export class GpuMemory {
  readonly device: GPUDevice;
  readonly #buffers = new Map<string, GPUBuffer>();
  readonly #failed: Promise<never>;
  #copy = new ArrayBuffer(0);

  constructor(device: GPUDevice) {
    this.device = device;
    this.#failed = new Promise((_, reject) => {
      const fail = (message: string): void => reject(new GpuFailure(message));
      void device.lost.then(({ message }) => fail(`The device was lost: ${message}`));
      // An invalid call or a failed allocation poisons what follows.
      device.onuncapturederror = ({ error }) => fail(error.message);
    });
    // `until` shows the failure; this keeps it from counting as an unhandled rejection before.
    this.#failed.catch(() => {});
  }

  /** The buffer of that name, with at least `bytes` bytes. Its contents are lost if it has to grow. */
  take(name: string, bytes: number, usage: keyof typeof usages = 'storage'): GPUBuffer {
    const kept = this.#buffers.get(name);
    if (kept && kept.size >= bytes) return kept;
    kept?.destroy();
    const size = Math.max(bindingStep, Math.ceil(bytes / bindingStep) * bindingStep);
    const buffer = this.device.createBuffer({ label: `search.${name}`, size, usage: usages[usage] });
    this.#buffers.set(name, buffer);
    return buffer;
  }

  /** The buffer of that name, beginning with `contents`. */
  put(name: string, contents: ArrayBufferView<ArrayBuffer>, usage: keyof typeof usages = 'storage'): GPUBuffer {
    const buffer = this.take(name, contents.byteLength, usage);
    this.device.queue.writeBuffer(buffer, 0, contents.buffer, contents.byteOffset, contents.byteLength);
    return buffer;
  }

  /** Waits for work of the device. Rejects with GpuFailure if the device has failed: `done` may then never settle. */
  until<T>(done: Promise<T>): Promise<T> {
    return Promise.race([done, this.#failed]);
  }

  /**
   * Submits the recorded commands, and then gives copies of the first bytes of some buffers, one after another. The
   * copies are valid until the next call: new memory for 10 MB costs as much as copying them.
   */
  async read(
    encoder: GPUCommandEncoder,
    ...parts: readonly { from: GPUBuffer; bytes: number }[]
  ): Promise<ArrayBuffer> {
    const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
    const readback = this.take('readback', bytes, 'readback');
    let at = 0;
    for (const part of parts) {
      encoder.copyBufferToBuffer(part.from, 0, readback, at, part.bytes);
      at += part.bytes;
    }
    this.device.queue.submit([encoder.finish()]);
    await this.until(readback.mapAsync(mapMode.READ, 0, bytes));
    if (this.#copy.byteLength < bytes) this.#copy = new ArrayBuffer(bytes);
    new Uint8Array(this.#copy).set(new Uint8Array(readback.getMappedRange(0, bytes)));
    readback.unmap();
    return this.#copy;
  }

  close(): void {
    this.device.destroy();
  }
}
