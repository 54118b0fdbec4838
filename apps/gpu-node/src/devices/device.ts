import type { PlaneTarget } from '@halogrid/imaging';
import type { ColourLayout, JpegBatchLayout } from '@halogrid/jpeg';
import type { ItemResult, Pipeline, PipelineItem } from '@halogrid/kernels';
import type { DeviceSeconds } from '@halogrid/kernels/webgpu';

export type { DeviceSeconds };

export const deviceKinds = ['gpu', 'software', 'cpu'] as const;
/**
 * A WebGPU adapter, through Dawn; the same shaders on SwiftShader, a software Vulkan, which is slow and tests shaders
 * where there is no GPU; WebAssembly in worker threads. A process opens one device.
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
 * Memory that planes are decoded into, or that JPEGs are read into which the device decodes; for a GPU it is mapped
 * upload memory, so nothing is copied afterwards.
 */
export interface Staging {
  /** Before the first run. */
  readonly bytes: Uint8Array;
  /** Gives the memory back without computing anything. */
  release(): void;
}

export interface BatchResult {
  /** One for each item, in their order. */
  items: ItemResult[];
  seconds: DeviceSeconds;
  /**
   * Seconds in which the device was at work; absent: the same as `compute`. A thread may wait for a core while it
   * computes.
   */
  busySeconds?: number;
  /**
   * Gives back the memory that dense results lie in, which nobody may read from then on. Called at most once; where it
   * is not, or is absent, the memory is not used again.
   */
  release?(): void;
}

/** JPEGs in staging memory. */
export interface StagedJpegs {
  /** Where they lie, and where their planes go; in colour where those of their components do. */
  layout: JpegBatchLayout;
  /** What makes red, green and blue of components, where that is asked for. */
  colours?: ColourLayout | undefined;
  /** Where the last file ends, and the last plane. */
  filesBytes: number;
  planesBytes: number;
}

/** What became of a batch of JPEGs. */
export interface DecodedJpegs {
  /** For each file, in their order: whether its plane is what libjpeg-turbo makes of it. If not, cores decode it. */
  areFine: boolean[];
  /** `decode` is 0 where the device has no clock. */
  seconds: { upload: number; decode: number };
}

/** A device's own decoder of JPEGs, to luma or to red, green and blue. */
export interface DeviceJpegs {
  /** Bytes of files that one batch takes, a third of it in colour; at least 1. */
  readonly maxBytes: number;
  /** Bytes of planes that are worth decoding at once. */
  readonly batchBytes: number;
  /** Compiles it, once. To be awaited before the first `decode` to these. Rejects where the device refuses it. */
  prepare(channels: PlaneTarget['channels']): Promise<void>;
  /**
   * Decodes files that lie in the bytes of `staging`, to planes that the next `run` of that staging reads: it need not
   * be waited for, because a device does one thing after another. Rejects with DeviceLostError.
   */
  decode(staging: Staging, batch: StagedJpegs): Promise<DecodedJpegs>;
}

/** What runs kernels. One device a node process; several batches may be in flight. */
export interface NodeDevice {
  readonly info: DeviceInfo;
  /** The largest staging memory it gives. */
  readonly maxStagingBytes: number;
  /** Planes that are worth computing at once; a single tile may have more. */
  readonly batchBytes: number;
  /** Batches that are worth having in flight. */
  readonly batchesInFlight: number;
  /** Bytes of memory that it has for batches, in use or kept for the next; undefined where it does not say. */
  readonly heldBytes?: number | undefined;
  /** Whether it makes gray of luma of the limited range faster than who decodes it. */
  readonly takesLimited?: boolean | undefined;
  /** Absent where the device decodes none. */
  readonly jpegs?: DeviceJpegs | undefined;
  /**
   * Waits for staging memory of at least `bytes`. `isLimited`, for devices that `takesLimited`: its planes will be luma
   * of 8 bits and of the limited range, and the first run makes gray of them as `expandedLuma` of libs/imaging defines
   * it. Rejects with DeviceLostError.
   */
  acquire(bytes: number, isLimited?: boolean): Promise<Staging>;
  /**
   * Computes items laid out in `staging`, which it takes back; with `keep` it leaves it to the caller, with the planes
   * in it, for another run, unless it rejects. Rejects with DeviceLostError when the device is gone: the same work may
   * be repeated on another.
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

/** The device went away (driver reset, unplugged, out of memory); nothing is wrong with the work. */
export class DeviceLostError extends Error {
  constructor(reason: string) {
    super(`The device was lost: ${reason}`);
    this.name = 'DeviceLostError';
  }
}
