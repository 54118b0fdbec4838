import { readFileSync } from 'node:fs';
import { type BorderMode, borderModes } from './border.ts';
import type { Size } from './geometry.ts';

/** What a kernel leaves behind: dense results, histograms, or both. */
export type GpuOutput = 'map' | 'histogram' | 'both';

/** Reads a file of WGSL that lies beside the module with that `import.meta.url`. */
export function readWgsl(module: string, name: string): string {
  return readFileSync(new URL(name, module), 'utf8');
}

const itemWgsl = readWgsl(import.meta.url, './item.wgsl');

/** What makes a kernel's compute pipeline. */
export interface GpuKernelSource {
  /** For error messages and profilers, e.g. `lbp.count`. */
  label: string;
  /** WGSL after item.wgsl, which declares bindings 0 to 3. */
  code: string;
  entryPoint: string;
  border: BorderMode;
  /** Other override constants that the entry point reaches. */
  constants: Record<string, number>;
  /** Pixels that a workgroup computes. */
  groupPixels: Size;
  /** Workgroups in z for one item: 1 unless channels are computed apart. */
  groupsAnItem?: number;
  /** Contents of binding 4, a uniform buffer, where the code declares one. */
  table?: ArrayBufferView<ArrayBuffer>;
}

/** Where a dispatch finds its buffers; offsets are multiples of 256 bytes. */
export interface GpuKernelBuffers {
  planes: GPUBuffer;
  items: { buffer: GPUBuffer; offset: number };
  histograms: { buffer: GPUBuffer; offset: number };
  maps: GPUBuffer;
}

/** A kernel compiled for one device. */
export interface GpuKernel {
  /** Records `count` items, of which none is larger than `largest` with its lead. */
  record(pass: GPUComputePassEncoder, buffers: GpuKernelBuffers, count: number, largest: Size): void;
}

/** GPUShaderStage.COMPUTE and GPUBufferUsage, whose globals exist only after Dawn is loaded. */
const computeStage = 4;
const uniformUsage = 0x40 | 0x8;

/** Compiles a kernel for one device. Rejects with GPUPipelineError where the device refuses the shader. */
export async function compileKernel(device: GPUDevice, source: GpuKernelSource): Promise<GpuKernel> {
  const { label, groupPixels, groupsAnItem = 1, table } = source;
  const types: GPUBufferBindingType[] = ['read-only-storage', 'uniform', 'storage', 'storage'];
  if (table) types.push('uniform');
  const layout = device.createBindGroupLayout({
    label: `${label}.bindings`,
    entries: types.map((type, binding) => ({ binding, visibility: computeStage, buffer: { type } })),
  });
  const compiled = await device.createComputePipelineAsync({
    label,
    layout: device.createPipelineLayout({ label: `${label}.layout`, bindGroupLayouts: [layout] }),
    compute: {
      module: device.createShaderModule({ label: `${label}.wgsl`, code: `${itemWgsl}\n${source.code}` }),
      entryPoint: source.entryPoint,
      constants: { BORDER: borderModes.indexOf(source.border), ...source.constants },
    },
  });
  const tableBuffer = table && uniformBuffer(device, `${label}.table`, table);

  return {
    record(pass, { planes, items, histograms, maps }, count, largest): void {
      const resources: GPUBufferBinding[] = [
        { buffer: planes },
        { ...items, size: itemTableBytes },
        histograms,
        { buffer: maps },
      ];
      if (tableBuffer) resources.push({ buffer: tableBuffer });
      pass.setPipeline(compiled);
      pass.setBindGroup(
        0,
        device.createBindGroup({
          label: `${label}.buffers`,
          layout,
          entries: resources.map((resource, binding) => ({ binding, resource })),
        }),
      );
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

/** Words of an item in the table that kernels read. */
export const itemWords = 16;
/** Items of a dispatch at most: what fits 64 KiB, the uniform buffer that every device can bind. */
export const maxItems = 1024;
/** Bytes that a dispatch binds of the table. */
export const itemTableBytes = maxItems * 4 * itemWords;
