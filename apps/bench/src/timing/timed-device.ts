import type { DeviceInfo } from '@halogrid/gpu-node/devices';
import { type OpenAdapter, openAdapter, unavailable } from '@halogrid/gpu-node/devices';
import { requestDevice } from '@halogrid/kernels/webgpu';

/** Throws one sentence where anything has gone wrong since the device was opened; `name` is what was run. */
type Check = (name: string) => void;

/** What a device of that kind says of itself. Rejects with UsageError where there is none. */
export async function describeDevice(kind: 'gpu' | 'software'): Promise<DeviceInfo> {
  return (await open(kind)).info;
}

/**
 * Opens a device that has a clock for the time of `use`. Rejects with UsageError where there is none, and with one
 * sentence where it has no clock.
 */
export async function withTimedDevice<T>(
  kind: 'gpu' | 'software',
  use: (device: GPUDevice, info: DeviceInfo, check: Check) => Promise<T>,
): Promise<T> {
  const { adapter, info } = await open(kind);
  if (!adapter.features.has('timestamp-query')) throw new Error(`${info.name} has no timestamp queries`);
  const device = await requestDevice(adapter);
  // Promises of a device that is gone may stay open for ever (seen with Dawn).
  const lost = device.lost.then(({ message }) => Promise.reject(new Error(`${info.name} was lost: ${message}`)));
  // Once nobody waits for it, it is only the device's end.
  lost.catch(() => {});
  let failure: string | undefined;
  device.onuncapturederror = ({ error }) => {
    failure ??= error.message;
  };
  try {
    const used = use(device, info, (name) => {
      if (failure !== undefined) throw new Error(`'${name}' cannot be run on ${info.name}: ${failure}`);
    });
    return await Promise.race([used, lost]);
  } finally {
    device.destroy();
  }
}

function open(kind: 'gpu' | 'software'): Promise<OpenAdapter> {
  return openAdapter(kind).catch((error) => {
    throw unavailable(kind, error);
  });
}
