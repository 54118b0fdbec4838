import { readFileSync } from 'node:fs';

/** Words of planes that a workgroup expands: four of each of its lanes. */
const groupWords = 1024;
/** Workgroups in a row of the grid, as in the shader: with so few, a test of several rows takes 4 MiB. */
const rowGroups = 2 ** 10;

/** Converts 8-bit luma of the limited range to gray, in place, in planes on a device. */
export class LumaExpander {
  readonly #device: GPUDevice;
  readonly #pipeline: GPUComputePipeline;

  /** Compiles the shader. Rejects with GPUPipelineError if the device refuses it. */
  static async create(device: GPUDevice): Promise<LumaExpander> {
    const code = readFileSync(new URL('./expand-luma.wgsl', import.meta.url), 'utf8');
    const pipeline = await device.createComputePipelineAsync({
      label: 'luma.expand',
      layout: 'auto',
      compute: { module: device.createShaderModule({ label: 'expand-luma.wgsl', code }), entryPoint: 'expand_luma' },
    });
    return new LumaExpander(device, pipeline);
  }

  private constructor(device: GPUDevice, pipeline: GPUComputePipeline) {
    this.#device = device;
    this.#pipeline = pipeline;
  }

  /**
   * Records the conversion of the first `bytes` bytes of `planes`, a multiple of 4. It also changes bytes between
   * planes, which are never read.
   */
  record(pass: GPUComputePassEncoder, planes: GPUBuffer, bytes: number): void {
    const groups = Math.ceil(bytes / (4 * groupWords));
    const entries = [{ binding: 0, resource: { buffer: planes, size: bytes } }];
    pass.setPipeline(this.#pipeline);
    pass.setBindGroup(0, this.#device.createBindGroup({ layout: this.#pipeline.getBindGroupLayout(0), entries }));
    pass.dispatchWorkgroups(Math.min(groups, rowGroups), Math.ceil(groups / rowGroups));
  }
}
