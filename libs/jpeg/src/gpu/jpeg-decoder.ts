import { bufferUsage } from '@halogrid/kernels/webgpu-flags';
import { settlePasses } from '../frame/passes.ts';
import type { JpegBatchLayout, ScratchName } from './batch-layout.ts';
import { wgslOf } from './wgsl.ts';

const uniformUsage = bufferUsage.UNIFORM | bufferUsage.COPY_DST;
/** The alignment of bindings in a uniform buffer. */
const uniformStep = 256;
/** The most workgroups in one direction. */
const maxWorkgroups = 65_535;

/**
 * The buffers of a batch; the same object for the same buffers. All are storage buffers. `files`, `tables` and `found`
 * are also copied to.
 */
export interface JpegBuffers extends Readonly<Record<ScratchName, GPUBuffer>> {
  files: GPUBuffer;
  tables: GPUBuffer;
  /** The bytes of the files, unchanged. */
  bytes: GPUBuffer;
  planes: GPUBuffer;
}

/** One dispatch of a batch. */
export interface JpegStage {
  name: PassName;
  record(pass: GPUComputePassEncoder): void;
}

type PassName = 'destuff' | 'settle' | 'recount' | 'place_chunks' | 'place_groups' | 'write' | 'transform';

interface Pass {
  /** The files of this folder that it consists of. */
  sources: readonly string[];
  /** Its bindings of group 0; undefined for those that it does not use. */
  bindings: readonly (keyof JpegBuffers | undefined)[];
}

const passes: Readonly<Record<PassName, Pass>> = {
  destuff: { sources: ['destuff'], bindings: ['files', 'bytes', 'words', 'chunks', 'found'] },
  settle: {
    sources: ['decode', 'settle'],
    bindings: ['files', 'tables', 'words', 'chunks', 'decoded', 'groups', 'found'],
  },
  recount: {
    sources: ['decode', 'settle'],
    bindings: ['files', 'tables', 'words', 'chunks', 'decoded', undefined, 'found'],
  },
  place_chunks: { sources: ['place'], bindings: ['files', 'decoded', 'groups', 'found'] },
  place_groups: { sources: ['place'], bindings: ['files', undefined, 'groups'] },
  write: {
    sources: ['decode', 'write'],
    bindings: ['files', 'tables', 'words', 'chunks', 'decoded', 'groups', 'entries', 'found'],
  },
  transform: { sources: ['transform'], bindings: ['files', 'tables', 'entries', 'planes', 'found'] },
};

/** Decodes the luma of batches of JPEGs on one device. */
export class JpegDecoder {
  readonly #device: GPUDevice;
  readonly #pipelines: Readonly<Record<PassName, GPUComputePipeline>>;
  /** The number of each settling pass. */
  readonly #numbers: readonly GPUBindGroup[];
  /**
   * Bind groups by the buffers of batches. Making the 14 groups for each batch took a tenth of the time of the thread
   * that records batches (measured).
   */
  readonly #groups = new WeakMap<JpegBuffers, Map<PassName, GPUBindGroup>>();

  /** Compiles the shaders. Rejects with GPUPipelineError if the device refuses one. */
  static async create(device: GPUDevice): Promise<JpegDecoder> {
    const names = Object.keys(passes) as PassName[];
    const compiled = await Promise.all(
      names.map((name) =>
        device.createComputePipelineAsync({
          label: `jpeg.${name}`,
          layout: 'auto',
          compute: {
            module: device.createShaderModule({ label: `jpeg.${name}.wgsl`, code: wgslOf(...passes[name].sources) }),
            entryPoint: name,
          },
        }),
      ),
    );
    const pipelines = Object.fromEntries(names.map((name, i) => [name, compiled[i]!]));
    return new JpegDecoder(device, pipelines as Record<PassName, GPUComputePipeline>);
  }

  private constructor(device: GPUDevice, pipelines: Readonly<Record<PassName, GPUComputePipeline>>) {
    this.#device = device;
    this.#pipelines = pipelines;
    const numbers = device.createBuffer({
      label: 'jpeg.passes',
      size: uniformStep * settlePasses,
      usage: uniformUsage,
      mappedAtCreation: true,
    });
    const mapped = new Uint32Array(numbers.getMappedRange());
    for (let pass = 0; pass < settlePasses; pass++) mapped[(pass * uniformStep) / 4] = pass;
    numbers.unmap();
    this.#numbers = Array.from({ length: settlePasses }, (_, pass) =>
      device.createBindGroup({
        label: `jpeg.pass${pass}`,
        layout: pipelines.settle.getBindGroupLayout(1),
        entries: [{ binding: 0, resource: { buffer: numbers, offset: pass * uniformStep, size: 4 } }],
      }),
    );
  }

  /**
   * Records a batch: it decodes the bytes of files to planes, and writes the status of each file to the even words of
   * `found`. Before, `found` must be zero, and `files` and `tables` must have the layout's content. Buffers may be used
   * again once the pass has run.
   */
  record(pass: GPUComputePassEncoder, layout: JpegBatchLayout, buffers: JpegBuffers): void {
    for (const { record } of this.stages(layout, buffers)) record(pass);
  }

  /** The same as single stages, to be recorded in this order. */
  stages(layout: JpegBatchLayout, buffers: JpegBuffers): JpegStage[] {
    if (layout.fileCount === 0) return [];
    const groupsOf = (most: number): [number, number, number] => {
      const across = Math.min(most, maxWorkgroups);
      return [across, layout.fileCount, Math.ceil(most / across)];
    };
    const perGroup = groupsOf(layout.mostGroups);
    const run = (name: PassName, size: [number, number, number]) => ({
      name,
      record: (pass: GPUComputePassEncoder) => {
        pass.setPipeline(this.#pipelines[name]);
        pass.setBindGroup(0, this.#bind(name, buffers));
        pass.dispatchWorkgroups(...size);
      },
    });
    const settle = (number: GPUBindGroup) => {
      const { name, record } = run('settle', perGroup);
      return {
        name,
        record: (pass: GPUComputePassEncoder) => {
          pass.setBindGroup(1, number);
          record(pass);
        },
      };
    };
    return [
      run('destuff', perGroup),
      ...this.#numbers.map(settle),
      ...(layout.sharesData ? [run('recount', perGroup)] : []),
      run('place_chunks', perGroup),
      run('place_groups', [1, layout.fileCount, 1]),
      run('write', perGroup),
      run('transform', groupsOf(layout.mostBlockGroups)),
    ];
  }

  #bind(name: PassName, buffers: JpegBuffers): GPUBindGroup {
    let groups = this.#groups.get(buffers);
    if (!groups) {
      groups = new Map();
      this.#groups.set(buffers, groups);
    }
    let group = groups.get(name);
    if (!group) {
      group = this.#makeGroup(name, buffers);
      groups.set(name, group);
    }
    return group;
  }

  #makeGroup(name: PassName, buffers: JpegBuffers): GPUBindGroup {
    return this.#device.createBindGroup({
      label: `jpeg.${name}`,
      layout: this.#pipelines[name].getBindGroupLayout(0),
      entries: passes[name].bindings.flatMap((of, binding) =>
        of ? [{ binding, resource: { buffer: buffers[of] } }] : [],
      ),
    });
  }
}
