import type { DeviceInfo } from '@halogrid/gpu-node';
import { type ItemResult, runReference, type Size } from '@halogrid/kernels';
import type { DeviceChoice } from '../options/option-values.ts';
import { testPlane, testSize } from './test-plane.ts';

/** What trying a device came to; `why` says why it is this one, `reason` why none works. Both are one sentence. */
export type Probe =
  | { works: true; device: DeviceInfo; why: string; openSeconds: number }
  | { works: false; reason: string };

/** Opens the device in this process, computes a small plane on it and compares the result with the CPU twin's. */
export async function probeDevice(choice: DeviceChoice): Promise<Probe> {
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
      return { works: false, reason: `${device.info.name} computes another LBP than the CPU twin.` };
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
