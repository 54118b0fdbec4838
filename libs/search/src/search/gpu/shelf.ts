import type { Catalog } from '../../store/catalog.ts';
import { cellsOfGrid, type Unit } from '../../store/pipeline-identity.ts';
import { massesOf } from '../../store/read-block.ts';
import { admission, type Filter } from '../admission.ts';
import { type GpuMemory, usages } from './gpu-memory.ts';
import type { ShelfPlan } from './plan-shelves.ts';

/** The factor of a vector's counts, by its mass. */
export type Scale = (mass: number) => number;

/** A shelf on a device, and what the device knows of its frames. */
export class Shelf {
  readonly plan: ShelfPlan;
  readonly bins: GPUBuffer;
  readonly #memory: GpuMemory;
  readonly #catalog: Catalog;
  readonly #scales = new Map<string, GPUBuffer>();
  readonly #asked: GPUBuffer;
  #filter: Filter | undefined;

  constructor(memory: GpuMemory, catalog: Catalog, plan: ShelfPlan, bins: GPUBuffer) {
    this.plan = plan;
    this.bins = bins;
    this.#memory = memory;
    this.#catalog = catalog;
    this.#asked = this.#buffer('asked', plan.rows / 8);
  }

  /**
   * The factors of the vectors: the first cells of all frames, then the second cells, and so on; 0 for vectors without
   * counts.
   */
  scales(unit: Unit, name: string, scale: Scale): GPUBuffer {
    const key = `${unit} ${name}`;
    const kept = this.#scales.get(key);
    if (kept) return kept;
    const { rows, blocks } = this.plan;
    const cells = unit === 'cell' ? cellsOfGrid(this.#catalog.pipeline) : 1;
    const scales = new Float32Array(cells * rows);
    for (const { place, first } of blocks) {
      for (const [i, mass] of massesOf(this.#catalog, place, unit).entries()) {
        const [frame, cell] = [Math.floor(i / cells), i % cells];
        if (mass > 0) scales[cell * rows + first + frame] = scale(mass);
      }
    }
    const buffer = this.#buffer(`scales ${key}`, scales.byteLength);
    this.#memory.device.queue.writeBuffer(buffer, 0, scales);
    this.#scales.set(key, buffer);
    return buffer;
  }

  /** A bit for each frame that is asked for. */
  asked(filter: Filter): GPUBuffer {
    if (this.#filter && JSON.stringify(this.#filter) === JSON.stringify(filter)) return this.#asked;
    const bits = new Uint32Array(this.plan.rows / 32);
    for (const { place, first } of this.plan.blocks) {
      const admits = admission(this.#catalog, place, filter);
      if (!admits) continue;
      for (let i = 0; i < place.frames; i++) if (admits(i)) bits[(first + i) >> 5]! |= 1 << ((first + i) & 31);
    }
    this.#memory.device.queue.writeBuffer(this.#asked, 0, bits);
    this.#filter = { ...filter };
    return this.#asked;
  }

  #buffer(label: string, size: number): GPUBuffer {
    return this.#memory.device.createBuffer({ label: `search.${label}`, size, usage: usages.storage });
  }
}
