/** The device that kernels are compiled for, with the adapter's limits. */
export function requestDevice(adapter: GPUAdapter): Promise<GPUDevice> {
  const { maxBufferSize, maxStorageBufferBindingSize, maxComputeWorkgroupStorageSize } = adapter.limits;
  const { maxComputeInvocationsPerWorkgroup, maxComputeWorkgroupSizeX, maxComputeWorkgroupSizeY } = adapter.limits;
  return adapter.requestDevice({
    label: 'halogrid',
    requiredFeatures: adapter.features.has('timestamp-query') ? ['timestamp-query'] : [],
    // By default the limits are 256 and 128 MiB, 16 KiB, and 256 lanes; only benchmarks exceed 256 lanes.
    requiredLimits: {
      maxBufferSize,
      maxStorageBufferBindingSize,
      maxComputeWorkgroupStorageSize,
      maxComputeInvocationsPerWorkgroup,
      maxComputeWorkgroupSizeX,
      maxComputeWorkgroupSizeY,
    },
  });
}

/** The name that an adapter gives itself, e.g. `NVIDIA H200`; browsers may only tell `nvidia ampere`. */
export function adapterName({ vendor, architecture, device, description }: GPUAdapterInfo): string {
  return (device || description || `${vendor} ${architecture}`).replace(/[\s-]+$/, '').trim();
}

/** Whether an adapter computes on the CPU, where WebAssembly is faster. */
export function isSoftwareAdapter({ vendor, architecture, device, description }: GPUAdapterInfo): boolean {
  return /swiftshader|llvmpipe|lavapipe/i.test(`${vendor} ${architecture} ${device} ${description}`);
}

/** Bytes of the largest buffer that kernels can read or write. */
export const largestBinding = ({ limits }: Pick<GPUDevice, 'limits'>): number =>
  Math.min(limits.maxBufferSize, limits.maxStorageBufferBindingSize);
