import type { Pipeline, PipelineItem } from '@halogrid/kernels';
import type { BatchResult, DeviceJpegs, NodeDevice, Staging } from '../devices/device.ts';
import { deviceOver } from '../devices/device-over.ts';
import type { NodeMetrics } from './node-metrics.ts';
import type { WorkerMeter } from './worker-meter.ts';

/** Meters of a device beside its metrics. */
export interface DeviceMeters {
  /** Batches being computed. */
  readonly device: WorkerMeter;
  /** Batches that wait for staging memory. The meter has no workers, so all count as waiting. */
  readonly memory: WorkerMeter;
}

/** The same device, with its batches, staging memory, bytes and busy seconds counted. */
export function withMetrics(device: NodeDevice, metrics: NodeMetrics, meters: DeviceMeters): NodeDevice {
  const isApart = device.info.kind !== 'cpu';
  return deviceOver(device, {
    get jpegs() {
      return device.jpegs && meteredJpegs(device, device.jpegs, metrics);
    },
    async acquire(bytes: number, isLimited?: boolean): Promise<Staging> {
      const staging = await meters.memory.during(() => device.acquire(bytes, isLimited));
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
      const metered = staging as MeteredStaging;
      const { inner, settle } = metered;
      let isKept = false;
      try {
        if (isApart && !metered.isUploaded) metrics.uploadedBytes.inc(planesBytes(items, pipeline));
        metered.isUploaded = true;
        const result = await meters.device.during(() => device.run(inner, items, pipeline, withMap, keep));
        if (isApart) metrics.readBackBytes.inc(resultBytes(result));
        metrics.busySeconds.inc({ device: device.info.kind }, result.busySeconds ?? result.seconds.compute);
        isKept = keep === true;
        return result;
      } finally {
        if (!isKept) settle();
      }
    },
  });
}

function meteredJpegs({ info }: NodeDevice, jpegs: DeviceJpegs, metrics: NodeMetrics): DeviceJpegs {
  const { maxBytes, batchBytes } = jpegs;
  return {
    maxBytes,
    batchBytes,
    prepare: (channels) => jpegs.prepare(channels),
    async decode(staging, batch) {
      const metered = staging as MeteredStaging;
      metrics.uploadedBytes.inc(batch.filesBytes);
      metered.isUploaded = true;
      const decoded = await jpegs.decode(metered.inner, batch);
      metrics.busySeconds.inc({ device: info.kind }, decoded.seconds.decode);
      const fine = decoded.areFine.filter((isFine) => isFine).length;
      metrics.deviceJpegs.inc({ outcome: 'decoded' }, fine);
      metrics.deviceJpegs.inc({ outcome: 'doubtful' }, decoded.areFine.length - fine);
      return decoded;
    },
  };
}

/** Bytes up to the end of the last plane. */
const planesBytes = (items: readonly PipelineItem[], { input }: Pipeline): number =>
  items.reduce((end, { offset, planeBytes }) => Math.max(end, offset + planeBytes * input.length), 0);

const resultBytes = ({ items }: BatchResult): number =>
  items.reduce((sum, { bins, map }) => sum + bins.byteLength + (map?.bytes.byteLength ?? 0), 0);

class MeteredStaging implements Staging {
  /** Its content is on the device already. */
  isUploaded = false;
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
