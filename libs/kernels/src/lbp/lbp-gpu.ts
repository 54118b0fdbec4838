import { readFileSync } from 'node:fs';
import { borderModes } from '../border.ts';
import { type GpuBatchBuffers, type GpuOutput, type GpuProgram, lanePixels } from '../gpu-program.ts';
import type { Pipeline } from '../pipeline.ts';
import type { PlaneItem } from '../plane-item.ts';

const code = readFileSync(new URL('./lbp.wgsl', import.meta.url), 'utf8');
const bins = 256;

/** Knobs of lbp.wgsl that change its speed and nothing else. */
export interface LbpTuning {
  /** Lanes of a workgroup; their product must not exceed the device's limit. */
  lanesX: number;
  lanesY: number;
}

export const defaultLbpTuning: LbpTuning = { lanesX: 32, lanesY: 8 };

/** Compiles LBP for one device. Rejects with GPUPipelineError where the device refuses the shader. */
export async function createLbpProgram(
  device: GPUDevice,
  pipeline: Pipeline,
  output: GpuOutput,
  tuning: LbpTuning = defaultLbpTuning,
): Promise<GpuProgram> {
  const { lanesX, lanesY } = tuning;
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
        LANES_X: lanesX,
        LANES_Y: lanesY,
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
        Math.ceil(width / (lanePixels.x * lanesX)),
        Math.ceil(height / (lanePixels.y * lanesY)),
        items.length,
      );
    },
  };
}
