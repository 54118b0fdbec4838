import { readFileSync } from 'node:fs';
import { borderModes } from '../border.ts';
import { type GpuBatchBuffers, type GpuOutput, type GpuProgram, lanePixels } from '../gpu-program.ts';
import type { Pipeline } from '../pipeline.ts';
import type { PlaneItem } from '../plane-item.ts';

const code = readFileSync(new URL('./lbp.wgsl', import.meta.url), 'utf8');
const bins = 256;

/** Lanes of a workgroup. Measured on an H200: 64 x 4 and 16 x 16 are equal within 2 %, 128 x 2 is slower. */
const lanes = { x: 32, y: 8 };

/** Compiles LBP for one device. Rejects with GPUPipelineError where the device refuses the shader. */
export async function createLbpProgram(device: GPUDevice, pipeline: Pipeline, output: GpuOutput): Promise<GpuProgram> {
  const types = ['read-only-storage', 'uniform', 'storage', 'storage'] as const;
  const layout = device.createBindGroupLayout({
    label: 'lbp.bindings',
    entries: types.map((type, binding) => ({
      binding,
      visibility: 4 /* GPUShaderStage.COMPUTE */,
      buffer: { type },
    })),
  });
  const compiled = await device.createComputePipelineAsync({
    label: `lbp.${output}`,
    layout: device.createPipelineLayout({ label: 'lbp.layout', bindGroupLayouts: [layout] }),
    compute: {
      module: device.createShaderModule({ label: 'lbp.wgsl', code }),
      entryPoint: output === 'map' ? 'map_only' : 'count',
      constants: {
        LANES_X: lanes.x,
        LANES_Y: lanes.y,
        MSB: pipeline.operations[0]!.parameters.convention === 'nw-cw-msb' ? 1 : 0,
        BORDER: borderModes.indexOf(pipeline.border),
        ...(output !== 'map' && { WRITE_MAP: output === 'both' ? 1 : 0 }),
      },
    },
  });

  return {
    histogramBytes: 4 * bins,
    record(pass: GPUComputePassEncoder, buffers: GpuBatchBuffers, items: readonly PlaneItem[]): void {
      const width = Math.max(...items.map((i) => i.out.width));
      const height = Math.max(...items.map((i) => i.out.height));
      pass.setPipeline(compiled);
      pass.setBindGroup(
        0,
        device.createBindGroup({
          label: 'lbp.buffers',
          layout,
          entries: [buffers.planes, buffers.items, buffers.histograms, buffers.maps].map((buffer, binding) => ({
            binding,
            resource: { buffer },
          })),
        }),
      );
      pass.dispatchWorkgroups(
        Math.ceil(width / (lanePixels.x * lanes.x)),
        Math.ceil(height / (lanePixels.y * lanes.y)),
        items.length,
      );
    },
  };
}
