import type { DeviceKind } from '@halogrid/gpu-node';
import { runReference } from '@halogrid/kernels';
import { testPlane } from './test-plane.ts';

/** What trying a device came to. */
export type Probe =
  | { works: true; kind: DeviceKind; name: string; driver: string; why: string; openSeconds: number }
  | { works: false; reason: string };

/** Opens the device in this process, computes a small plane on it and compares that with the CPU twin. */
export async function probeDevice(choice: 'auto' | DeviceKind): Promise<Probe> {
  const { openDevice } = await import('@halogrid/gpu-node');
  const begin = performance.now();
  try {
    const { device, why } = await openDevice(choice);
    const openSeconds = (performance.now() - begin) / 1000;
    const { pipeline, item, bytes } = testPlane();
    const staging = await device.acquire(bytes.length);
    staging.bytes.set(bytes);
    const { items } = await device.run(staging, [item], pipeline, true);
    await device.close();
    const { kind, name, driver } = device.info;
    const [found, expected] = [items[0]!, runReference(pipeline, bytes, item, true)];
    if (!sameResult(found, expected)) return { works: false, reason: `${name} computes a wrong LBP` };
    return { works: true, kind, name, driver, why, openSeconds };
  } catch (error) {
    return { works: false, reason: (error as Error).message };
  }
}
