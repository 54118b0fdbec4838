/** The buffers of a dispatch; offsets are multiples of 256 bytes. */
export interface GpuKernelBuffers {
  planes: GPUBuffer;
  items: { buffer: GPUBuffer; offset: number };
  histograms: { buffer: GPUBuffer; offset: number };
  maps: GPUBuffer;
}

/** Bind groups kept for each buffer of planes. In a batch of more dispatches, the time to make them does not matter. */
const mostKept = 4;

/** The bind groups of a kernel, kept for later batches in the same buffers. */
export class BindGroups {
  readonly #make: (buffers: GpuKernelBuffers) => GPUBindGroup;
  /** By buffer of planes, the last ones made. */
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
