import { ParameterError } from '../kernel/parameter-error.ts';
import type { ItemResult } from '../kernel/plane-item.ts';
import type { Pipeline } from '../pipeline/pipeline.ts';
import type { PipelineItem } from '../pipeline/pipeline-item.ts';
import { shown } from './check-call.ts';
import type { Device } from './types.ts';

/** An item, and a function that writes its planes into `bytes` bytes of memory, whose content is arbitrary before. */
export interface Work {
  pipeline: Pipeline;
  item: PipelineItem;
  bytes: number;
  withMap: boolean;
  fill(memory: Uint8Array): void;
}

/** A device with the methods that only this library calls. */
export interface ComputeDevice extends Device {
  /** The most bytes that the planes of an item, or its results, may have. */
  readonly mostBytes: number;
  /** Computes one item. The memory of its result belongs to the caller. */
  compute(work: Work): Promise<ItemResult>;
}

/** Throws ParameterError unless `open` made the device. */
export function asComputeDevice(device: Device): ComputeDevice {
  if (typeof (device as Partial<ComputeDevice> | null)?.compute === 'function') return device as ComputeDevice;
  throw new ParameterError('device', shown(device), 'what open() gives');
}

/** The error of a device that was closed. */
export const closedError = (): Error => new Error('The device is closed: open() gives another.');
