import type { Size } from '@halogrid/geometry';
import type { DeviceInfo } from '@halogrid/gpu-node';
import {
  createPipeline,
  type ItemResult,
  type Pipeline,
  type PipelineItem,
  placeItem,
  planPipeline,
  runReference,
} from '@halogrid/kernels';
import type { DeviceChoice } from '../options/option-values.ts';

/**
 * The result of testing a device. `why`: why this device was chosen; `reason`: why none works. Both are one sentence.
 */
export type DeviceTrial =
  | { works: true; device: DeviceInfo; why: string; openSeconds: number }
  | { works: false; reason: string };

/** Opens the device in this process, computes a small plane on it and compares the result with that of the CPU twin. */
export async function probeDevice(choice: DeviceChoice): Promise<DeviceTrial> {
  try {
    const { openDevice } = await import('@halogrid/gpu-node');
    const begin = performance.now();
    const { device, reason } = await openDevice(choice);
    const openSeconds = (performance.now() - begin) / 1000;
    const { pipeline, item, bytes } = testPlane();
    const staging = await device.acquire(bytes.length);
    staging.bytes.set(bytes);
    const { items } = await device.run(staging, [item], pipeline, true);
    await device.close();
    if (!isSame(items[0]!, runReference(pipeline, bytes, item, true), testSize)) {
      return { works: false, reason: `${device.info.name} does not compute the same LBP as the CPU twin.` };
    }
    return { works: true, device: device.info, why: reason, openSeconds };
  } catch (error) {
    return { works: false, reason: (error as Error).message };
  }
}

/** Whether two results have the same counts and the same codes in their first `width` x `height` bytes. */
function isSame(a: ItemResult, b: ItemResult, { width, height }: Size): boolean {
  if (a.counted !== b.counted || a.bins.some((count, code) => count !== b.bins[code])) return false;
  for (let y = 0; y < height; y++) {
    const row = ({ map }: ItemResult) => map!.bytes.subarray(y * map!.stride, y * map!.stride + width);
    if (row(a).some((code, x) => code !== row(b)[x])) return false;
  }
  return true;
}

/** The size of a plane that is computed at once. It is not a multiple of any size that suits a device. */
const testSize = { width: 127, height: 93 };

export interface TestPlane {
  pipeline: Pipeline;
  item: PipelineItem;
  /** Staging memory with the plane in it. */
  bytes: Uint8Array;
}

/** A known plane to test a device with: LBP with reflected borders, so that the halo is tested, too. */
export function testPlane(): TestPlane {
  const pipeline = createPipeline([{ kernel: 'lbp', parameters: {}, border: 'reflect' }]);
  const plan = planPipeline(pipeline, { x: 0, y: 0, ...testSize }, testSize);
  const { item, end } = placeItem(plan, 1, 0);
  const bytes = new Uint8Array(end);
  // The upper bytes of a linear congruential generator (Numerical Recipes): random enough for every code to occur.
  for (let i = 0, state = 1; i < bytes.length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    bytes[i] = state >>> 24;
  }
  return { pipeline, item, bytes };
}
