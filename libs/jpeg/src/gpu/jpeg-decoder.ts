import { bufferUsage } from '@halogrid/kernels/webgpu-flags';
import { settlePasses } from '../frame/passes.ts';
import type { JpegBatchLayout, ScratchName } from './batch-layout.ts';
import { wgslOf } from './wgsl.ts';

const uniformUsage = bufferUsage.UNIFORM | bufferUsage.COPY_DST;
/** Where the next binding of a uniform buffer may begin. */
const uniformStep = 256;
/** Workgroups in one direction at most. */
const maxWorkgroups = 65_535;

/**
 * The buffers of a batch; the same object for those of the same buffers. All are storage; `files`, `tables` and `found`
 * are also copied to.
 */
export interface JpegBuffers extends Readonly<Record<ScratchName, GPUBuffer>> {
  files: GPUBuffer;
  tables: GPUBuffer;
  /** The files as they are. */
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
  /** The files of this folder that it is made of. */
  sources: readonly string[];
  /** Its bindings of group 0; what it does not use has none. */
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
  /** For each pass that settles, its number. */
  readonly #numbers: readonly GPUBindGroup[];
  /**
   * By the buffers of batches. Making the 14 of a batch anew took a tenth of what the thread that records it did
   * (measured).
   */
  readonly #groups = new WeakMap<JpegBuffers, Map<PassName, GPUBindGroup>>();

  /** Compiles it. Rejects with GPUPipelineError where the device refuses a shader. */
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
   * Records a batch: from the bytes of files to planes and, in the even words of `found`, the status of each file.
   * `found` is zero before; `files` and `tables` are what the layout says. Buffers may be used again once the pass has
   * run.
   */
  record(pass: GPUComputePassEncoder, layout: JpegBatchLayout, buffers: JpegBuffers): void {
    for (const { record } of this.stages(layout, buffers)) record(pass);
  }

  /** The same in parts, which are recorded in this order. */
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
