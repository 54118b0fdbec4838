import { readFileSync } from 'node:fs';
import type { ColourLayout } from './colour-layout.ts';

/** Pixels of a row that a workgroup converts. */
const groupPixels = 256;

/** Makes colours of the components that a JpegDecoder has decoded, on one device. */
export class ColourConverter {
  readonly #device: GPUDevice;
  readonly #pipeline: GPUComputePipeline;

  /** Compiles the shader. Rejects with GPUPipelineError if the device refuses it. */
  static async create(device: GPUDevice): Promise<ColourConverter> {
    const code = readFileSync(new URL('./colours.wgsl', import.meta.url), 'utf8');
    const pipeline = await device.createComputePipelineAsync({
      label: 'jpeg.colours',
      layout: 'auto',
      compute: { module: device.createShaderModule({ label: 'jpeg.colours.wgsl', code }), entryPoint: 'colours' },
    });
    return new ColourConverter(device, pipeline);
  }

  private constructor(device: GPUDevice, pipeline: GPUComputePipeline) {
    this.#device = device;
    this.#pipeline = pipeline;
  }

  /**
   * Records the conversion of a batch after its decoding. `records` holds the layout's records, and `planes` the
   * decoded components.
   */
  record(pass: GPUComputePassEncoder, layout: ColourLayout, records: GPUBuffer, planes: GPUBuffer): void {
    const { firsts, mostWidth, mostHeight } = layout;
    const count = firsts.length - 1;
    if (count === 0) return;
    const entries = [records, planes].map((buffer, binding) => ({ binding, resource: { buffer } }));
    pass.setPipeline(this.#pipeline);
    pass.setBindGroup(0, this.#device.createBindGroup({ layout: this.#pipeline.getBindGroupLayout(0), entries }));
    pass.dispatchWorkgroups(Math.ceil(mostWidth / groupPixels), count, mostHeight);
  }
}
