import type { Pipeline, PipelineItem } from '@halogrid/kernels';
import {
  type BatchResult,
  type DeviceInfo,
  type DeviceJpegs,
  DeviceLostError,
  type NodeDevice,
  type Staging,
} from './device.ts';

export interface ReopeningOptions {
  /** Opens the device again. */
  open: () => Promise<NodeDevice>;
  /** The time for one opening: a driver that hangs may never answer. */
  openWithinMs: number;
  /** Called each time the device is lost. */
  onLost: (reason: string) => void;
  delay: (ms: number) => Promise<void>;
}

/**
 * Pauses before each try to open a lost device again. After the last one it is given up. The reset of a driver takes
 * seconds.
 */
const triesMs = [0, 1000, 4000, 15_000];

/**
 * A device that is opened again when it is lost: its batches reject with DeviceLostError, later ones wait for the new
 * device. It is lost for good if no try succeeds, or if it is lost that often without a finished batch in between.
 */
export class ReopeningDevice implements NodeDevice {
  readonly lost: Promise<string>;
  readonly #options: ReopeningOptions;
  /** The present device, or the last one. */
  #device: NodeDevice;
  /** Rejects with DeviceLostError once the device is given up. */
  #current: Promise<NodeDevice>;
  /** Tries since the last finished batch. */
  #tries = 0;
  #isClosed = false;
  #giveUp!: (reason: string) => void;

  constructor(device: NodeDevice, options: ReopeningOptions) {
    this.#options = options;
    this.#device = device;
    this.#current = Promise.resolve(device);
    this.lost = new Promise((resolve) => {
      this.#giveUp = resolve;
    });
    this.#watch(device);
  }

  get info(): DeviceInfo {
    return this.#device.info;
  }

  get maxStagingBytes(): number {
    return this.#device.maxStagingBytes;
  }

  get batchBytes(): number {
    return this.#device.batchBytes;
  }

  get batchesInFlight(): number {
    return this.#device.batchesInFlight;
  }

  get takesLimited(): boolean | undefined {
    return this.#device.takesLimited;
  }

  get heldBytes(): number | undefined {
    return this.#device.heldBytes;
  }

  get jpegs(): DeviceJpegs | undefined {
    const { jpegs } = this.#device;
    if (!jpegs) return undefined;
    const { maxBytes, batchBytes } = jpegs;
    return {
      maxBytes,
      batchBytes,
      prepare: async (channels) => (await this.#current).jpegs!.prepare(channels),
      decode: async (staging, batch) => {
        const { device, inner } = staging as BoundStaging;
        return device.jpegs!.decode(inner, batch);
      },
    };
  }

  async acquire(bytes: number, isLimited?: boolean): Promise<Staging> {
    const device = await this.#current;
    return new BoundStaging(device, await device.acquire(bytes, isLimited));
  }

  async run(
    staging: Staging,
    items: readonly PipelineItem[],
    pipeline: Pipeline,
    withMap: boolean,
    keep?: boolean,
  ): Promise<BatchResult> {
    const { device, inner } = staging as BoundStaging;
    const result = await device.run(inner, items, pipeline, withMap, keep);
    if (device === this.#device) this.#tries = 0;
    return result;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#device.close();
  }

  #watch(device: NodeDevice): void {
    void device.lost.then((reason) => {
      if (this.#isClosed) return;
      this.#options.onLost(reason);
      this.#current = this.#reopen(device, reason);
      this.#current.catch(() => {});
    });
  }

  async #reopen(lost: NodeDevice, reason: string): Promise<NodeDevice> {
    await lost.close().catch(() => {});
    let last = reason;
    while (this.#tries < triesMs.length && !this.#isClosed) {
      await this.#options.delay(triesMs[this.#tries++]!);
      try {
        this.#device = await this.#open();
        if (this.#isClosed) await this.#device.close();
        this.#watch(this.#device);
        return this.#device;
      } catch (error) {
        last = (error as Error).message;
      }
    }
    this.#giveUp(`The device was lost (${reason}) and could not be used again after ${this.#tries} tries: ${last}`);
    throw new DeviceLostError(reason);
  }

  #open(): Promise<NodeDevice> {
    const { open, openWithinMs } = this.#options;
    return new Promise((resolve, reject) => {
      const late = new Error(`it was not open within ${openWithinMs / 1000} s`);
      const timer = setTimeout(() => reject(late), openWithinMs);
      open()
        .then(resolve, reject)
        .finally(() => clearTimeout(timer));
    });
  }
}

/** Staging memory belongs to the device that gave it, also after another device was opened. */
class BoundStaging implements Staging {
  readonly device: NodeDevice;
  readonly inner: Staging;

  constructor(device: NodeDevice, inner: Staging) {
    this.device = device;
    this.inner = inner;
  }

  get bytes(): Uint8Array {
    return this.inner.bytes;
  }

  release(): void {
    this.inner.release();
  }
}
