import {
  type GpuProgramName,
  gatherShader,
  manyQueriesShader,
  oneQueryShader,
  rangesShader,
  summitFigures,
} from '../../scan/gpu/nearness-shader.ts';
import type { GpuClock } from './gpu-clock.ts';
import { bindingStep, type GpuMemory, usages } from './gpu-memory.ts';
import type { GpuQueries } from './gpu-query.ts';
import { bundleRows } from './plan-shelves.ts';
import type { Shelf } from './shelf.ts';

/** What shelves are scanned for: the same for all. */
export interface ScanTarget {
  program: GpuProgramName;
  wanted: GpuQueries;
  queries: number;
  /** Vectors of a frame, and counts of a vector. */
  cells: number;
  length: number;
  /** For each shelf, the factors of its counts, and the frames that are asked for. */
  scales: readonly GPUBuffer[];
  asked: readonly GPUBuffer[];
}

/** A bundle to be looked at for a query; `shelf` is its shelf's number. */
export interface BundlePick {
  shelf: number;
  query: number;
  bundle: number;
  cell: number;
}

/** The `summitFigures` figures of a query from number `summit` * `summitFigures` on. */
export interface SummitPick {
  query: number;
  summit: number;
}

/** A vector: a frame (`row`) of the shelf with that number, and a cell. */
export interface VectorPick {
  shelf: number;
  row: number;
  cell: number;
}

/** Words of Scan in near.wgsl, in a slot that can be bound. */
const slotWords = bindingStep / 4;

/** What a device computes with shelves, in one submission for each method. */
export class GpuPasses {
  readonly #memory: GpuMemory;
  readonly #shelves: readonly Shelf[];
  readonly #norms = new Map<number, Promise<GPUBuffer[]>>();
  readonly #pipelines = new Map<string, Promise<GPUComputePipeline>>();
  /** Where the figures of each shelf begin among a query's figures, for frames with one cell. */
  readonly #bases: readonly number[];
  /** Bundles of all shelves. */
  readonly bundles: number;

  constructor(memory: GpuMemory, shelves: readonly Shelf[]) {
    this.#memory = memory;
    this.#shelves = shelves;
    const bases = [0];
    for (const { plan } of shelves) bases.push(bases.at(-1)! + plan.rows / bundleRows);
    this.bundles = bases.pop()!;
    this.#bases = bases;
  }

  /** The figure of the nearest vector of each bundle, by query, then by shelf, then by cell. */
  async bestOfBundles(sight: ScanTarget, clock: GpuClock): Promise<Float32Array> {
    const wanted = this.#memory.put('rows', sight.wanted.rows);
    const count = this.#figuresOf(sight);
    const figures = this.#memory.take('figures', 4 * count);
    const encoder = this.#memory.device.createCommandEncoder({ label: 'search.best_of_bundles' });
    await this.#lookAtAll(encoder, sight, 'best_of_bundles', clock, { wanted, figures });
    return new Float32Array(await clock.read(encoder, figures, 4 * count), 0, count);
  }

  /**
   * For many queries, the largest of each `summitFigures` figures that `bestOfBundles` would give. The figures stay on
   * the device for `figuresBelow`: 64 queries have 10 MB of them if an index has ten million frames.
   */
  async summits(sight: ScanTarget, columns: Float32Array<ArrayBuffer>, clock: GpuClock): Promise<Float32Array> {
    const wanted = this.#memory.put('columns', columns);
    const count = sight.queries * Math.ceil((sight.cells * this.bundles) / summitFigures);
    const figures = this.#memory.take('figures', 4 * this.#figuresOf(sight));
    const summits = this.#memory.take('summits', 4 * count);
    const encoder = this.#memory.device.createCommandEncoder({ label: 'search.best_of_many' });
    encoder.clearBuffer(summits, 0, 4 * count);
    await this.#lookAtAll(encoder, sight, 'best_of_many', clock, { wanted, figures, more: summits });
    return fromOrdered(new Uint32Array(await clock.read(encoder, summits, 4 * count), 0, count));
  }

  /**
   * The figures below some summits, `summitFigures` for each; behind the last figure of a query, the figure of a vector
   * without counts.
   */
  async figuresBelow(sight: ScanTarget, summits: readonly SummitPick[]): Promise<Float32Array> {
    const total = sight.cells * this.bundles;
    const ranges = new Uint32Array(2 * summits.length);
    for (const [i, { query, summit }] of summits.entries()) {
      const first = summit * summitFigures;
      ranges.set([query * total + first, Math.min(summitFigures, total - first)], 2 * i);
    }
    const { device } = this.#memory;
    const bytes = 4 * summitFigures * summits.length;
    const copied = this.#memory.take('copied', bytes);
    const encoder = device.createCommandEncoder({ label: 'search.copy_ranges' });
    const pipeline = await this.#pipeline('ranges', rangesShader, 'copy_ranges');
    const listed = this.#memory.put('ranges', ranges);
    const resources: GPUBindingResource[] = [
      { buffer: this.#memory.take('figures', 4 * this.#figuresOf(sight)) },
      { buffer: listed, size: ranges.byteLength },
      { buffer: copied },
    ];
    const entries = resources.map((resource, binding) => ({ binding, resource }));
    const pass = encoder.beginComputePass({ label: 'search.copy_ranges' });
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries }));
    const across = Math.min(summits.length, device.limits.maxComputeWorkgroupsPerDimension);
    pass.dispatchWorkgroups(across, Math.ceil(summits.length / across));
    pass.end();
    return new Float32Array(await this.#memory.read(encoder, { from: copied, bytes }), 0, bytes / 4);
  }

  /** The number of figures of all queries. */
  #figuresOf({ queries, cells }: Pick<ScanTarget, 'queries' | 'cells'>): number {
    return queries * cells * this.bundles;
  }

  async #lookAtAll(
    encoder: GPUCommandEncoder,
    sight: ScanTarget,
    entry: 'best_of_bundles' | 'best_of_many',
    clock: GpuClock,
    { wanted, figures, more }: { wanted: GPUBuffer; figures: GPUBuffer; more?: GPUBuffer },
  ): Promise<void> {
    const slots = this.#slots(sight, () => 0);
    const pipelines = await this.#each(sight, entry);
    const pass = encoder.beginComputePass({ label: `search.${entry}`, ...clock.around });
    for (const [i, shelf] of this.#shelves.entries()) {
      const pipeline = pipelines[i]!;
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, this.#bind(pipeline, sight, i, [wanted, slots, figures], more));
      const queries = entry === 'best_of_many' ? 1 : sight.queries;
      pass.dispatchWorkgroups(shelf.plan.rows / bundleRows, sight.cells, queries);
    }
    pass.end();
  }

  /** The bundle of the i-th figure of a query. */
  bundleAt(i: number, cells: number): Omit<BundlePick, 'query'> {
    const shelf = this.#bases.findLastIndex((base) => cells * base <= i);
    const bundles = this.#shelves[shelf]!.plan.rows / bundleRows;
    const at = i - cells * this.#bases[shelf]!;
    return { shelf, bundle: at % bundles, cell: Math.floor(at / bundles) };
  }

  /**
   * The figures of all vectors of some bundles, `bundleRows` for each pick; picks of a shelf must lie one after
   * another.
   */
  async nearOfPicks(sight: ScanTarget, picks: readonly BundlePick[]): Promise<Float32Array> {
    const wanted = this.#memory.put('rows', sight.wanted.rows);
    const words = new Uint32Array(4 * picks.length);
    for (const [i, { query, bundle, cell }] of picks.entries()) words.set([query, bundle, cell], 4 * i);
    const listed = this.#memory.put('picks', words);
    const runs = runsOf(picks);
    const slots = this.#slots(sight, (shelf) => runs.get(shelf)?.first ?? 0);
    const bytes = 4 * bundleRows * picks.length;
    const figures = this.#memory.take('figures', bytes);
    const encoder = this.#memory.device.createCommandEncoder({ label: 'search.near_of_picks' });
    const pipelines = await this.#each(sight, 'near_of_picks');
    const pass = encoder.beginComputePass({ label: 'search.near_of_picks' });
    for (const [shelf, { count }] of runs) {
      pass.setPipeline(pipelines[shelf]!);
      pass.setBindGroup(0, this.#bind(pipelines[shelf]!, sight, shelf, [wanted, slots, figures], listed));
      pass.dispatchWorkgroups(count);
    }
    pass.end();
    return new Float32Array(await this.#memory.read(encoder, { from: figures, bytes }), 0, bytes / 4);
  }

  /** For each shelf, the factors that make the length of its vectors 1. They are computed once. */
  inverseNorms(sight: Pick<ScanTarget, 'cells' | 'length'>): Promise<GPUBuffer[]> {
    const kept = this.#norms.get(sight.cells);
    if (kept) return kept;
    const made = this.#computeNorms(sight);
    this.#norms.set(sight.cells, made);
    return made;
  }

  async #computeNorms({ cells, length }: Pick<ScanTarget, 'cells' | 'length'>): Promise<GPUBuffer[]> {
    const { device } = this.#memory;
    const slots = this.#slots({ cells, length, queries: 0 }, () => 0);
    const pipelines = await this.#each({ program: 'directions' }, 'inverse_norms');
    const encoder = device.createCommandEncoder({ label: 'search.inverse_norms' });
    const pass = encoder.beginComputePass({ label: 'search.inverse_norms' });
    const norms = this.#shelves.map(({ plan, bins }, i) => {
      const size = 4 * cells * plan.rows;
      const buffer = device.createBuffer({ label: 'search.norms', size, usage: usages.storage });
      const entries = [
        { binding: 0, resource: { buffer: bins } },
        { binding: 4, resource: { buffer: slots, offset: bindingStep * i, size: 32 } },
        { binding: 5, resource: { buffer } },
      ];
      pass.setPipeline(pipelines[i]!);
      pass.setBindGroup(0, device.createBindGroup({ layout: pipelines[i]!.getBindGroupLayout(0), entries }));
      pass.dispatchWorkgroups(plan.rows / bundleRows, cells);
      return buffer;
    });
    pass.end();
    device.queue.submit([encoder.finish()]);
    return norms;
  }

  /** The counts of vectors as they are stored, one after another; picks of a shelf must lie one after another. */
  async gather(
    { cells, length }: Pick<ScanTarget, 'cells' | 'length'>,
    picks: readonly VectorPick[],
  ): Promise<ArrayBuffer> {
    const { device } = this.#memory;
    const words = new Uint32Array(2 * picks.length);
    for (const [i, { row, cell }] of picks.entries()) words.set([row, cell], 2 * i);
    const listed = this.#memory.put('picked', words);
    const runs = runsOf(picks);
    const slots = new Uint32Array(slotWords * this.#shelves.length);
    let into = 0;
    for (const [shelf, { first, count }] of runs) {
      const vectorWords = (length * this.#shelves[shelf]!.plan.width) / 16;
      slots.set([first, into, vectorWords, cells * vectorWords], slotWords * shelf);
      into += count * vectorWords;
    }
    const places = this.#memory.put('gathers', slots, 'uniform');
    const vectors = this.#memory.take('vectors', 16 * into);
    const encoder = device.createCommandEncoder({ label: 'search.gather' });
    const pipeline = await this.#pipeline('gather', gatherShader, 'gather_vectors');
    const pass = encoder.beginComputePass({ label: 'search.gather' });
    pass.setPipeline(pipeline);
    for (const [shelf, { count }] of runs) {
      const resources: GPUBindingResource[] = [
        { buffer: this.#shelves[shelf]!.bins },
        { buffer: listed },
        { buffer: places, offset: bindingStep * shelf, size: 16 },
        { buffer: vectors },
      ];
      const entries = resources.map((resource, binding) => ({ binding, resource }));
      pass.setBindGroup(0, device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries }));
      pass.dispatchWorkgroups(count);
    }
    pass.end();
    return await this.#memory.read(encoder, { from: vectors, bytes: 16 * into });
  }

  /** The `Scan` of near.wgsl for each shelf. */
  #slots(
    { queries, cells, length }: Pick<ScanTarget, 'queries' | 'cells' | 'length'>,
    first: (shelf: number) => number,
  ): GPUBuffer {
    const slots = new Uint32Array(slotWords * this.#shelves.length);
    for (const [i, { plan }] of this.#shelves.entries()) {
      const words = (length * plan.width) / 16;
      const base = cells * this.#bases[i]!;
      slots.set([plan.rows, words, cells * words, base, cells * this.bundles, queries, first(i)], slotWords * i);
    }
    return this.#memory.put('slots', slots, 'uniform');
  }

  #bind(
    pipeline: GPUComputePipeline,
    sight: ScanTarget,
    shelf: number,
    [wanted, slots, figures]: [GPUBuffer, GPUBuffer, GPUBuffer],
    more?: GPUBuffer,
  ): GPUBindGroup {
    const on = this.#shelves[shelf]!;
    const entries: GPUBindGroupEntry[] = [
      { binding: 0, resource: { buffer: on.bins } },
      { binding: 1, resource: { buffer: wanted } },
      { binding: 2, resource: { buffer: sight.scales[shelf]! } },
      { binding: 3, resource: { buffer: sight.asked[shelf]! } },
      { binding: 4, resource: { buffer: slots, offset: bindingStep * shelf, size: 32 } },
      { binding: 5, resource: { buffer: figures } },
    ];
    if (more) entries.push({ binding: 6, resource: { buffer: more } });
    return this.#memory.device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries });
  }

  /** The pipeline of each shelf. */
  #each({ program }: Pick<ScanTarget, 'program'>, entry: string): Promise<GPUComputePipeline[]> {
    const shader = entry === 'best_of_many' ? manyQueriesShader : oneQueryShader;
    return Promise.all(
      this.#shelves.map(({ plan: { width } }) =>
        this.#pipeline(`${program} ${width}`, () => shader(program, width), entry),
      ),
    );
  }

  #pipeline(name: string, code: () => string, entryPoint: string): Promise<GPUComputePipeline> {
    const key = `${name} ${entryPoint}`;
    const kept = this.#pipelines.get(key);
    if (kept) return kept;
    const { device } = this.#memory;
    const module = device.createShaderModule({ label: `search ${name}`, code: code() });
    const compute = { module, entryPoint };
    const made = this.#memory.until(device.createComputePipelineAsync({ label: key, layout: 'auto', compute }));
    this.#pipelines.set(key, made);
    return made;
  }
}

/** The floats from which `ordered` of near.wgsl made these words, in the same memory. */
function fromOrdered(words: Uint32Array<ArrayBuffer>): Float32Array {
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!;
    words[i] = word >>> 31 ? word ^ 0x80000000 : ~word;
  }
  return new Float32Array(words.buffer, words.byteOffset, words.length);
}

/** Where the picks of each shelf begin, and how many there are. */
function runsOf(picks: readonly { shelf: number }[]): Map<number, { first: number; count: number }> {
  const runs = new Map<number, { first: number; count: number }>();
  for (const [i, { shelf }] of picks.entries()) {
    const run = runs.get(shelf);
    if (run) run.count++;
    else runs.set(shelf, { first: i, count: 1 });
  }
  return runs;
}
