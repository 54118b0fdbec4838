import type { Device } from '../../devices/device.ts';

/** A device that notes its batches and what is out. */
export function noted(inner: Device, changes: Partial<Device> = {}) {
  const batches: { items: number; withMap: boolean }[] = [];
  let out = 0;
  const device: Device = {
    info: inner.info,
    maxStagingBytes: inner.maxStagingBytes,
    batchBytes: inner.batchBytes,
    batchesInFlight: inner.batchesInFlight,
    lost: inner.lost,
    async acquire(bytes) {
      const staging = await inner.acquire(bytes);
      out++;
      const release = staging.release.bind(staging);
      staging.release = () => {
        out--;
        release();
      };
      return staging;
    },
    async run(staging, items, pipeline, withMap, keep) {
      batches.push({ items: items.length, withMap });
      if (!keep) out--;
      return inner.run(staging, items, pipeline, withMap, keep);
    },
    close: () => inner.close(),
    ...changes,
  };
  return { device, batches, out: () => out };
}
