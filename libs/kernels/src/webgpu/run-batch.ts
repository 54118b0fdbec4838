import { mapMode } from '../kernel/gpu/webgpu-flags.ts';
import type { ItemResult } from '../kernel/plane-item.ts';
import type { GpuProgram } from '../pipeline/gpu-program.ts';
import type { PipelineItem } from '../pipeline/pipeline-item.ts';
import { type GpuSlot, timestampCount } from './gpu-slot.ts';

/** Seconds a batch spent in each stage of the device. */
export interface DeviceSeconds {
  upload: number;
  compute: number;
  readback: number;
}

export interface GpuBatchOptions {
  /** Channels of the image that the program's first kernel takes. */
  channels: number;
  /** Records work on the first `bytes` bytes of planes that were just uploaded, before the kernels. */
  prepare?: ((pass: GPUComputePassEncoder, planes: GPUBuffer, bytes: number) => void) | undefined;
  /** As for GpuProgram.unpack. */
  copy?: (maps: Uint8Array) => Uint8Array;
}

/** Computes items that lie in the slot's upload memory, or in its planes if these were uploaded already. */
export async function runBatch(
  device: GPUDevice,
  slot: GpuSlot,
  program: GpuProgram,
  items: readonly PipelineItem[],
  { channels, prepare, copy }: GpuBatchOptions,
): Promise<{ items: ItemResult[]; seconds: DeviceSeconds }> {
  const layout = program.layOut(items);
  if (layout.dispatches.length === 0) {
    // Neither counts nor dense results are wanted.
    const idle = program.unpack(layout, new Uint32Array(0), new Uint8Array(0));
    return { items: idle, seconds: { upload: 0, compute: 0, readback: 0 } };
  }
  const { histogramsBytes, mapsBytes, excluded: planesOfBits } = layout;
  const readBytes = layout.readsMaps ? mapsBytes : 0;
  const planesEnd = (item: PipelineItem) => item.offset + item.planeBytes * channels;
  const usedBytes = roundUp4(Math.max(...items.map(planesEnd)));
  const table = slot.buffer('table', layout.tableBytes);
  const histograms = slot.buffer('histograms', histogramsBytes);
  const maps = slot.buffer('maps', mapsBytes);
  // Planes that are on the device already stay in their buffer.
  const staged = slot.planes(slot.isUploaded ? 0 : usedBytes);
  const planes = [staged, ...layout.planesBytes.map((bytes, i) => slot.buffer(`planes${i + 1}`, bytes))];
  // [timestamps][histograms][maps]
  const histogramsAt = 8 * timestampCount;
  const mapsAt = histogramsAt + histogramsBytes;
  const readback = slot.buffer('readback', mapsAt + readBytes);
  const excluded = planesOfBits.length > 0 ? slot.buffer('excluded', planesOfBits.byteLength) : undefined;

  slot.unmap();
  device.queue.writeBuffer(table, 0, layout.table);
  if (excluded) device.queue.writeBuffer(excluded, 0, planesOfBits);
  const encoder = device.createCommandEncoder({ label: 'batch' });
  stamp(encoder, slot, 0);
  const isNew = !slot.isUploaded;
  if (isNew) encoder.copyBufferToBuffer(slot.upload, 0, staged, 0, Math.min(usedBytes, slot.capacity));
  slot.isUploaded = true;
  encoder.clearBuffer(histograms, 0, histogramsBytes);
  const pass = encoder.beginComputePass({ label: 'batch.kernels', timestampWrites: stampsOf(slot, 2) });
  if (isNew) prepare?.(pass, staged, usedBytes);
  program.record(pass, layout, { planes, table, histograms, maps, excluded });
  pass.end();
  encoder.copyBufferToBuffer(histograms, 0, readback, histogramsAt, histogramsBytes);
  encoder.copyBufferToBuffer(maps, 0, readback, mapsAt, readBytes);
  stamp(encoder, slot, 4);
  if (slot.timestamps) {
    encoder.resolveQuerySet(slot.timestamps.queries, 0, timestampCount, slot.timestamps.resolved, 0);
    encoder.copyBufferToBuffer(slot.timestamps.resolved, 0, readback, 0, 8 * timestampCount);
  }
  const submitted = performance.now();
  device.queue.submit([encoder.finish()]);
  // Requesting both mappings now lets one look at the device find both.
  const writable = slot.remap();
  writable.catch(() => {});
  await readback.mapAsync(mapMode.READ, 0, mapsAt + readBytes);
  const waited = (performance.now() - submitted) / 1000;

  const mapped = readback.getMappedRange(0, mapsAt + readBytes);
  const results = program.unpack(
    layout,
    new Uint32Array(mapped, histogramsAt, histogramsBytes / 4),
    new Uint8Array(mapped, mapsAt, readBytes),
    copy,
  );
  const seconds = slot.timestamps
    ? secondsOf(new BigUint64Array(mapped, 0, timestampCount))
    : { upload: 0, compute: waited, readback: 0 };
  readback.unmap();
  await writable;
  return { items: results, seconds };
}

/** Records timestamps in an empty pass, because only passes carry them. */
function stamp(encoder: GPUCommandEncoder, slot: GpuSlot, first: number): void {
  if (!slot.timestamps) return;
  encoder.beginComputePass({ label: 'batch.stamp', timestampWrites: stampsOf(slot, first) }).end();
}

/** Writes timestamps `first` and `first` + 1 of a slot at the beginning and the end of a pass. */
export function stampsOf({ timestamps }: GpuSlot, first: number): GPUComputePassTimestampWrites | undefined {
  if (!timestamps) return undefined;
  const { queries } = timestamps;
  return { querySet: queries, beginningOfPassWriteIndex: first, endOfPassWriteIndex: first + 1 };
}

/**
 * Seconds by the GPU's own clock, whose stamps are nanoseconds. Copies run between the end of one pass and the start of
 * the next.
 */
function secondsOf(stamps: BigUint64Array): DeviceSeconds {
  const between = (from: number, to: number) => Math.max(0, Number(stamps[to]! - stamps[from]!)) / 1e9;
  return { upload: between(1, 2), compute: between(2, 3), readback: between(3, 4) };
}

const roundUp4 = (bytes: number): number => Math.ceil(bytes / 4) * 4;
