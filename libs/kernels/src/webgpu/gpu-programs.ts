import { createGpuProgram, type GpuHosts } from '../gpu.ts';
import type { ChooseStrategy } from '../kernel/gpu/strategy.ts';
import { cellSizeOf } from '../pipeline/gpu-layout.ts';
import type { GpuProgram } from '../pipeline/gpu-program.ts';
import { type Pipeline, specifiedOperations } from '../pipeline/pipeline.ts';
import type { PipelineItem } from '../pipeline/pipeline-item.ts';

/** The compiled pipelines of a device. */
export class GpuPrograms {
  readonly #device: GPUDevice;
  readonly #choose: ChooseStrategy | undefined;
  readonly #hosts: GpuHosts | undefined;
  readonly #programs = new Map<string, Promise<GpuProgram>>();

  /** `choose` and `hosts` are as for createGpuProgram. */
  constructor(device: GPUDevice, choose?: ChooseStrategy, hosts?: GpuHosts) {
    this.#device = device;
    this.#choose = choose;
    this.#hosts = hosts;
  }

  /** The program for such items, compiled once. Rejects with GPUPipelineError if the device refuses a shader. */
  of(pipeline: Pipeline, items: readonly PipelineItem[], map: boolean): Promise<GpuProgram> {
    const cells = cellSizeOf(items);
    const excludes = items.some(({ excluded }) => excluded);
    const key = JSON.stringify([specifiedOperations(pipeline), pipeline.pixel, pipeline.bins, map, cells, excludes]);
    let program = this.#programs.get(key);
    if (!program) {
      program = createGpuProgram(this.#device, pipeline, { map, cells, excludes }, this.#choose, this.#hosts);
      this.#programs.set(key, program);
    }
    return program;
  }
}
