import { type PixelType, type Size, sampleBytes } from '@halogrid/geometry';
import { type BorderMode, borderModes } from '../border.ts';
import { readText } from '../read-beside.ts';
import { BindGroups, type GpuKernelBuffers } from './bind-groups.ts';
import { bufferUsage } from './webgpu-flags.ts';

/** The results that a kernel writes: dense results, histograms, or both. */
export type GpuOutput = 'map' | 'histogram' | 'both';

const item = readText(new URL('./item.wgsl', import.meta.url));
const map = readText(new URL('./map.wgsl', import.meta.url));
const noMap = readText(new URL('./no-map.wgsl', import.meta.url));
const histogram = readText(new URL('./histogram.wgsl', import.meta.url));
const noHistogram = readText(new URL('./no-histogram.wgsl', import.meta.url));

/** The source of a kernel's compute pipeline. */
export interface GpuKernelSource {
  /** For error messages and profilers, e.g. `lbp.vector.map`. */
  label: string;
  /** WGSL after item.wgsl, map.wgsl and histogram.wgsl, which declare bindings 0 to 3. */
  code: string;
  entryPoint: string;
  /**
   * The results that it writes. Only these are bound as writable, because a dispatch waits for all earlier ones that
   * can write to its buffers.
   */
  output: GpuOutput;
  border: BorderMode;
  /** Type of the planes' pixels. Default: u8. */
  reads?: PixelType;
  /** Other override constants that the entry point reaches. */
  constants: Record<string, number>;
  /** Pixels that a workgroup computes. */
  groupPixels: Size;
  /** Workgroups in z per item: 1, unless channels are computed separately. */
  groupsAnItem?: number;
  /** Contents of binding 4, a uniform buffer, if the code declares one. */
  table?: ArrayBufferView<ArrayBuffer>;
}

/** A kernel compiled for one device. */
export interface GpuKernel {
  /** Records `count` items, each at most as large as `largest` including its lead. */
  record(pass: GPUComputePassEncoder, buffers: GpuKernelBuffers, count: number, largest: Size): void;
}

const uniformUsage = bufferUsage.UNIFORM | bufferUsage.COPY_DST;

/** Compiles a kernel for one device. Rejects with GPUPipelineError if the device refuses the shader. */
export async function compileKernel(device: GPUDevice, source: GpuKernelSource): Promise<GpuKernel> {
  const { label, output, reads = 'u8', groupPixels, groupsAnItem = 1, table } = source;
  const head = [item, output === 'histogram' ? noMap : map, output === 'map' ? noHistogram : histogram];
  const compiled = await device.createComputePipelineAsync({
    label,
    // Only the bindings that the entry point uses, in the way it uses them.
    layout: 'auto',
    compute: {
      module: device.createShaderModule({ label: `${label}.wgsl`, code: [...head, source.code].join('\n') }),
      entryPoint: source.entryPoint,
      constants: {
        BORDER: borderModes.indexOf(source.border),
        PIXEL_BYTES: sampleBytes[reads],
        ...source.constants,
      },
    },
  });
  const layout = compiled.getBindGroupLayout(0);
  const tableBuffer = table && uniformBuffer(device, `${label}.table`, table);
  const groups = new BindGroups(({ planes, items, histograms, maps }) => {
    const entries: GPUBindGroupEntry[] = [
      { binding: 0, resource: { buffer: planes } },
      { binding: 1, resource: { ...items, size: itemTableBytes } },
    ];
    if (output !== 'map') entries.push({ binding: 2, resource: histograms });
    if (output !== 'histogram') entries.push({ binding: 3, resource: { buffer: maps } });
    if (tableBuffer) entries.push({ binding: 4, resource: { buffer: tableBuffer } });
    return device.createBindGroup({ label: `${label}.buffers`, layout, entries });
  });

  return {
    record(pass, buffers, count, largest): void {
      pass.setPipeline(compiled);
      pass.setBindGroup(0, groups.of(buffers));
      pass.dispatchWorkgroups(
        Math.ceil(largest.width / groupPixels.width),
        Math.ceil(largest.height / groupPixels.height),
        count * groupsAnItem,
      );
    },
  };
}

function uniformBuffer(device: GPUDevice, label: string, contents: ArrayBufferView<ArrayBuffer>): GPUBuffer {
  const size = Math.ceil(contents.byteLength / 16) * 16;
  const buffer = device.createBuffer({ label, size, usage: uniformUsage, mappedAtCreation: true });
  const { buffer: from, byteOffset, byteLength } = contents;
  new Uint8Array(buffer.getMappedRange()).set(new Uint8Array(from, byteOffset, byteLength));
  buffer.unmap();
  return buffer;
}

/** Words per item in the table that kernels read. */
export const itemWords = 16;
/** The most items of a dispatch: they fit 64 KiB, the uniform buffer that every device can bind. */
export const maxItems = 1024;
/** Bytes of the table that a dispatch binds. */
export const itemTableBytes = maxItems * 4 * itemWords;
