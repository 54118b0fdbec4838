import type { Pipeline, PipelineItem } from '@halogrid/kernels';
import type { BatchResult, Device, DeviceJpegs, Staging } from '../devices/device.ts';
import type { NodeMetrics } from './node-metrics.ts';

/** The same device, with its staging memory and busy seconds counted. */
export function withMetrics(device: Device, metrics: NodeMetrics): Device {
  return {
    get info() {
      return device.info;
    },
    get maxStagingBytes() {
      return device.maxStagingBytes;
    },
    get batchBytes() {
      return device.batchBytes;
    },
    get batchesInFlight() {
      return device.batchesInFlight;
    },
    get jpegs() {
      return device.jpegs && meteredJpegs(device, device.jpegs, metrics);
    },
    lost: device.lost,
    close: () => device.close(),
    async acquire(bytes: number): Promise<Staging> {
      const staging = await device.acquire(bytes);
      metrics.stagingBytes.inc(bytes);
      return new MeteredStaging(staging, () => metrics.stagingBytes.dec(bytes));
    },
    async run(
      staging: Staging,
      items: readonly PipelineItem[],
      pipeline: Pipeline,
      withMap: boolean,
      keep?: boolean,
    ): Promise<BatchResult> {
      const { inner, settle } = staging as MeteredStaging;
      let isKept = false;
      try {
        const result = await device.run(inner, items, pipeline, withMap, keep);
        metrics.busySeconds.inc({ device: device.info.kind }, result.seconds.compute);
        isKept = keep === true;
        return result;
      } finally {
        if (!isKept) settle();
      }
    },
  };
}

function meteredJpegs({ info }: Device, jpegs: DeviceJpegs, metrics: NodeMetrics): DeviceJpegs {
  const { maxBytes, batchBytes } = jpegs;
  return {
    ...{ maxBytes, batchBytes },
    prepare: () => jpegs.prepare(),
    async decode(staging, batch) {
      const decoded = await jpegs.decode((staging as MeteredStaging).inner, batch);
      metrics.busySeconds.inc({ device: info.kind }, decoded.seconds.decode);
      const fine = decoded.areFine.filter((isFine) => isFine).length;
      metrics.deviceJpegs.inc({ outcome: 'decoded' }, fine);
      metrics.deviceJpegs.inc({ outcome: 'doubtful' }, decoded.areFine.length - fine);
      return decoded;
    },
  };
}

class MeteredStaging implements Staging {
  readonly inner: Staging;
  readonly settle: () => void;

  constructor(inner: Staging, settle: () => void) {
    this.inner = inner;
    this.settle = settle;
  }

  get bytes(): Uint8Array {
    return this.inner.bytes;
  }

  release(): void {
    this.inner.release();
    this.settle();
  }
}
