import { mapMode } from '@halogrid/kernels/webgpu-flags';
import { arrangeShader } from '../../scan/gpu/nearness-shader.ts';
import type { Catalog } from '../../store/catalog.ts';
import { type BlockPlace, lengthOf, readBlock } from '../../store/read-block.ts';
import { type GpuMemory, usages } from './gpu-memory.ts';
import { planShelves, type ShelfPlan } from './plan-shelves.ts';
import { Shelf } from './shelf.ts';

/** The most blocks on their way to the device at once. */
const waysUp = 3;

export interface LoadedShelves {
  shelves: Shelf[];
  /** Blocks that the device does not hold. */
  rest: BlockPlace[];
}

/**
 * Reads blocks of an index into the memory of a device, as many as fit while `spareBytes` stay free. Rejects with
 * IndexError if the index is damaged, and with GpuFailure if the device fails.
 */
export async function loadShelves(
  memory: GpuMemory,
  catalog: Catalog,
  blocks: readonly BlockPlace[],
  spareBytes: number,
): Promise<LoadedShelves> {
  const { device } = memory;
  const { maxBufferSize, maxStorageBufferBindingSize } = device.limits;
  const length = lengthOf(catalog.pipeline, 'frame');
  const mostBytes = Math.min(maxBufferSize, maxStorageBufferBindingSize);
  const plans = planShelves(blocks, length, mostBytes);
  const spare: (GPUBuffer | undefined)[] = [];
  for (let left = spareBytes; left > 0; left -= mostBytes)
    spare.push(await tryBuffer(memory, Math.min(left, mostBytes)));
  const shelves: Shelf[] = [];
  const loader = await ShelfLoader.create(memory, catalog, blocks);
  for (const plan of plans) {
    const bins = await tryBuffer(memory, plan.rows * length * plan.width);
    if (!bins) break;
    await loader.load(plan, bins);
    shelves.push(new Shelf(memory, catalog, plan, bins));
  }
  await loader.end();
  for (const buffer of spare) buffer?.destroy();
  const held = new Set(shelves.flatMap(({ plan }) => plan.blocks.map(({ place }) => key(place))));
  return { shelves, rest: blocks.filter((place) => !held.has(key(place))) };
}

const key = ({ segment, from }: BlockPlace): string => `${segment} ${from}`;

/** A buffer of that size; undefined if the device has no memory for it. */
async function tryBuffer({ device }: GpuMemory, size: number): Promise<GPUBuffer | undefined> {
  device.pushErrorScope('out-of-memory');
  const buffer = device.createBuffer({ label: 'search.bins', size, usage: usages.storage });
  return (await device.popErrorScope()) ? undefined : buffer;
}

/** A block on its way: memory that it is copied into, and memory of the device that it is arranged from. */
interface Way {
  upload: GPUBuffer;
  block: GPUBuffer;
  place: GPUBuffer;
}

class ShelfLoader {
  readonly #memory: GpuMemory;
  readonly #catalog: Catalog;
  readonly #arrange: GPUComputePipeline;
  readonly #ways: Way[];
  #next = 0;

  static async create(memory: GpuMemory, catalog: Catalog, blocks: readonly BlockPlace[]): Promise<ShelfLoader> {
    const module = memory.device.createShaderModule({ label: 'arrange.wgsl', code: arrangeShader() });
    const compute = { module, entryPoint: 'arrange_block' };
    const pipeline = memory.device.createComputePipelineAsync({ label: 'search.arrange', layout: 'auto', compute });
    const bytes = blocks.reduce((most, place) => Math.max(most, place.bytes), 0);
    return new ShelfLoader(memory, catalog, await memory.until(pipeline), bytes);
  }

  private constructor(memory: GpuMemory, catalog: Catalog, arrange: GPUComputePipeline, bytes: number) {
    this.#memory = memory;
    this.#catalog = catalog;
    this.#arrange = arrange;
    this.#ways = Array.from({ length: waysUp }, () => ({
      upload: memory.device.createBuffer({ label: 'search.upload', size: bytes, usage: usages.upload }),
      block: memory.device.createBuffer({ label: 'search.block', size: bytes, usage: usages.storage }),
      place: memory.device.createBuffer({ label: 'search.place', size: 16, usage: usages.uniform }),
    }));
  }

  async load({ blocks, width }: ShelfPlan, bins: GPUBuffer): Promise<void> {
    const { device } = this.#memory;
    const stride = (lengthOf(this.#catalog.pipeline, 'frame') * width) / 16;
    const bytes = new Uint8Array(Math.max(...blocks.map(({ place }) => place.bytes)));
    for (const { place, first } of blocks) {
      const way = this.#ways[this.#next++ % waysUp]!;
      await this.#memory.until(way.upload.mapAsync(mapMode.WRITE));
      // Reading memory that a device maps may be slow, so the block is checked in our own memory.
      const block = bytes.subarray(0, place.bytes);
      readBlock(this.#catalog, place, block);
      new Uint8Array(way.upload.getMappedRange(0, place.bytes)).set(block);
      way.upload.unmap();
      device.queue.writeBuffer(way.place, 0, Uint32Array.of(first, place.frames, stride, 0));
      const encoder = device.createCommandEncoder({ label: 'search.load' });
      encoder.copyBufferToBuffer(way.upload, 0, way.block, 0, place.bytes);
      const pass = encoder.beginComputePass({ label: 'search.arrange' });
      pass.setPipeline(this.#arrange);
      const resources = [way.block, way.place, bins];
      const entries = resources.map((buffer, binding) => ({ binding, resource: { buffer } }));
      pass.setBindGroup(0, device.createBindGroup({ layout: this.#arrange.getBindGroupLayout(0), entries }));
      pass.dispatchWorkgroups(Math.min(4096, Math.ceil(place.bytes / (16 * 64))));
      pass.end();
      device.queue.submit([encoder.finish()]);
    }
  }

  /** Waits for the block on its way, and frees the memory. */
  async end(): Promise<void> {
    await this.#memory.until(this.#memory.device.queue.onSubmittedWorkDone());
    for (const { upload, block, place } of this.#ways) for (const buffer of [upload, block, place]) buffer.destroy();
  }
}
