import type { DeviceInfo } from '@halogrid/gpu-node/devices';
import { type OpenAdapter, openAdapter, unavailable } from '@halogrid/gpu-node/devices';
import { requestDevice } from '@halogrid/kernels/webgpu';

/** Throws one sentence if an error has come from the device since it was opened; `name` is the case that ran. */
type Check = (name: string) => void;

/** Describes the device of a kind. Rejects with UsageError if this machine has none. */
export async function describeDevice(kind: 'gpu' | 'software'): Promise<DeviceInfo> {
  return (await open(kind)).info;
}

/**
 * Opens a device with a clock for the time of `use`. Rejects with UsageError if this machine has no such device, and
 * with one sentence if the device has no clock.
 */
export async function withTimedDevice<T>(
  kind: 'gpu' | 'software',
  use: (device: GPUDevice, info: DeviceInfo, check: Check) => Promise<T>,
): Promise<T> {
  const { adapter, info } = await open(kind);
  if (!adapter.features.has('timestamp-query')) throw new Error(`${info.name} has no timestamp queries`);
  const device = await requestDevice(adapter);
  // Promises of a lost device may stay open for ever (seen with Dawn).
  const lost = device.lost.then(({ message }) => Promise.reject(new Error(`${info.name} was lost: ${message}`)));
  // After `use`, the loss is only the end of the device.
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
