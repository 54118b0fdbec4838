import type { PlaneTarget } from '@halogrid/imaging';
import type { ColourLayout, JpegBatchLayout } from '@halogrid/jpeg';
import type { ItemResult, Pipeline, PipelineItem } from '@halogrid/kernels';
import type { DeviceSeconds } from '@halogrid/kernels/webgpu';

export type { DeviceSeconds };

export const deviceKinds = ['gpu', 'software', 'cpu'] as const;
/**
 * `gpu`: a WebGPU adapter, through Dawn. `software`: the same shaders on SwiftShader, a slow software Vulkan, to test
 * shaders without a GPU. `cpu`: WebAssembly in worker threads. A process opens one device.
 */
export type DeviceKind = (typeof deviceKinds)[number];

export interface DeviceInfo {
  kind: DeviceKind;
  /** As the adapter describes itself, e.g. "NVIDIA H200". */
  name: string;
  /** Driver or version, for people. */
  driver: string;
}

/**
 * Memory that planes are decoded into, or that JPEGs are read into for the device to decode. For a GPU it is mapped
 * upload memory, so that nothing is copied afterwards.
 */
export interface Staging {
  /** May be written before the first run. */
  readonly bytes: Uint8Array;
  /** Gives the memory back without computing anything. */
  release(): void;
}

export interface BatchResult {
  /** One for each item, in their order. */
  items: ItemResult[];
  seconds: DeviceSeconds;
  /**
   * Seconds in which the device was busy; absent: the same as `compute`. A CPU thread may wait for a core while it
   * computes.
   */
  busySeconds?: number;
  /**
   * Gives back the memory of the dense results, which nobody may read afterwards. Called at most once. If it is absent
   * or not called, the memory is not used again.
   */
  release?(): void;
}

/** JPEGs in staging memory. */
export interface StagedJpegs {
  /** Where the files and their planes lie. In colour, each component of a file has a plane. */
  layout: JpegBatchLayout;
  /** How red, green and blue are made of the components, if colours are wanted. */
  colours?: ColourLayout | undefined;
  /** The ends of the last file and of the last plane. */
  filesBytes: number;
  planesBytes: number;
}

/** The outcome of a batch of JPEGs. */
export interface DecodedJpegs {
  /** For each file, in order: whether its plane equals what libjpeg-turbo decodes. If not, cores decode the file. */
  areFine: boolean[];
  /** `decode` is 0 if the device has no clock. */
  seconds: { upload: number; decode: number };
}

/** A device's own decoder of JPEGs, to luma or to red, green and blue. */
export interface DeviceJpegs {
  /** Bytes of files that one batch takes; in colour a third of it. At least 1. */
  readonly maxBytes: number;
  /** Bytes of planes that are worth decoding at once. */
  readonly batchBytes: number;
  /**
   * Compiles the decoder for these channels, once. Await it before the first `decode`. Rejects if the device refuses
   * it.
   */
  prepare(channels: PlaneTarget['channels']): Promise<void>;
  /**
   * Decodes files that lie in the bytes of `staging` to planes that the next `run` of that staging reads. The caller
   * need not wait before that `run`, because a device does one thing after another. Rejects with DeviceLostError.
   */
  decode(staging: Staging, batch: StagedJpegs): Promise<DecodedJpegs>;
}

/** A device that runs kernels. A node process has one; several batches may be in flight. */
export interface NodeDevice {
  readonly info: DeviceInfo;
  /** The largest staging memory it gives. */
  readonly maxStagingBytes: number;
  /** Planes that are worth computing at once; a single tile may have more. */
  readonly batchBytes: number;
  /** Batches that are worth having in flight. */
  readonly batchesInFlight: number;
  /** Bytes of memory that the device has for batches, in use or kept for the next; undefined if it does not tell. */
  readonly heldBytes?: number | undefined;
  /** Whether the device converts luma of the limited range to gray faster than the decoder does. */
  readonly takesLimited?: boolean | undefined;
  /** Absent if the device decodes no JPEGs. */
  readonly jpegs?: DeviceJpegs | undefined;
  /**
   * Waits for staging memory of at least `bytes`. `isLimited`, for devices with `takesLimited`: the planes will be
   * 8-bit luma of the limited range, which the first run converts to gray as `expandedLuma` of libs/imaging defines it.
   * Rejects with DeviceLostError.
   */
  acquire(bytes: number, isLimited?: boolean): Promise<Staging>;
  /**
   * Computes items that lie in `staging`, and takes the staging back. With `keep` it leaves the staging and its planes
   * to the caller for another run, unless it rejects. Rejects with DeviceLostError if the device is lost: another
   * device may repeat the work.
   */
  run(
    staging: Staging,
    items: readonly PipelineItem[],
    pipeline: Pipeline,
    withMap: boolean,
    keep?: boolean,
  ): Promise<BatchResult>;
  /** Resolves with the reason when the device is lost; never after `close`. */
  readonly lost: Promise<string>;
  close(): Promise<void>;
}

/** The device went away (driver reset, unplugged, out of memory). The work itself is fine. */
export class DeviceLostError extends Error {
  constructor(reason: string) {
    super(`The device was lost: ${reason}`);
    this.name = 'DeviceLostError';
  }
}
