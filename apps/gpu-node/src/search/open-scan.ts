import { requestDevice } from '@halogrid/kernels/webgpu';
import {
  type Catalog,
  GpuScan,
  type GpuScanOptions,
  type IndexScan,
  type OpenScan,
  ThreadScan,
  TwinScan,
} from '@halogrid/search';
import { openAdapter, unavailable } from '../devices/index.ts';

export const scanKinds = ['gpu', 'software', 'cpu', 'twin'] as const;
/**
 * `gpu`: a WebGPU adapter. `software`: the same shaders on SwiftShader. `cpu`: WebAssembly in worker threads. `twin`:
 * the plain definition, in this thread.
 */
export type ScanKind = (typeof scanKinds)[number];

/** Logs a sentence. */
type Note = (line: string) => void;

const openers: Record<ScanKind, (catalog: Catalog, note: Note) => Promise<IndexScan>> = {
  gpu: (catalog, note) => openGpuScan('gpu', catalog, { note }),
  software: (catalog, note) => openGpuScan('software', catalog, { note }),
  cpu: async (catalog) => new ThreadScan(catalog),
  twin: async (catalog) => new TwinScan(catalog),
};

/** Opens scans of indexes on a device of this kind. They reject with UsageError if the device is not there. */
export const scanOn =
  (kind: ScanKind, note: Note = () => {}): OpenScan =>
  (catalog) =>
    openers[kind](catalog, note);

/**
 * An index, or some of its blocks, in the memory of a WebGPU device, which the scan closes. Rejects with UsageError if
 * there is no such device.
 */
export async function openGpuScan(
  kind: 'gpu' | 'software',
  catalog: Catalog,
  options: GpuScanOptions = {},
): Promise<GpuScan> {
  const device = await openAdapter(kind)
    .then(({ adapter }) => requestDevice(adapter))
    .catch((error) => {
      throw unavailable(kind, error);
    });
  return await GpuScan.open(catalog, device, options);
}
