/** Where a dispatch finds its buffers; offsets are multiples of 256 bytes. */
export interface GpuKernelBuffers {
  planes: GPUBuffer;
  items: { buffer: GPUBuffer; offset: number };
  histograms: { buffer: GPUBuffer; offset: number };
  maps: GPUBuffer;
}

/** For each planes; of a batch of more dispatches, making them is no part that anyone would notice. */
const mostKept = 4;

/** The bind groups of a kernel, kept for the next batch in the same buffers. */
export class BindGroups {
  readonly #make: (buffers: GpuKernelBuffers) => GPUBindGroup;
  /** By the planes that are read, the last ones. */
  readonly #kept = new WeakMap<GPUBuffer, { buffers: GpuKernelBuffers; group: GPUBindGroup }[]>();

  constructor(make: (buffers: GpuKernelBuffers) => GPUBindGroup) {
    this.#make = make;
  }

  of(buffers: GpuKernelBuffers): GPUBindGroup {
    let kept = this.#kept.get(buffers.planes);
    if (!kept) {
      kept = [];
      this.#kept.set(buffers.planes, kept);
    }
    const known = kept.find((one) => isSame(one.buffers, buffers));
    if (known) return known.group;
    const group = this.#make(buffers);
    kept.push({ buffers, group });
    if (kept.length > mostKept) kept.shift();
    return group;
  }
}

function isSame(a: GpuKernelBuffers, b: GpuKernelBuffers): boolean {
  return (
    a.items.buffer === b.items.buffer &&
    a.items.offset === b.items.offset &&
    a.histograms.buffer === b.histograms.buffer &&
    a.histograms.offset === b.histograms.offset &&
    a.maps === b.maps
  );
}
