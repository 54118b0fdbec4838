import { readFileBeside } from './read-beside.ts';

const pageBytes = 65_536;

/** A compiled module of assembly/, and its memory. Addresses are bytes. */
export class WasmModule<Exports> {
  /** The first free address: the compiler reserves the first page. */
  static readonly begin = pageBytes;

  readonly #file: URL;
  #instance: { exports: Exports; memory: WebAssembly.Memory } | undefined;

  /** The module is compiled when it is first used, because a page may forbid WebAssembly. */
  constructor(file: URL) {
    this.#file = file;
  }

  get exports(): Exports {
    return this.#compiled().exports;
  }

  /** The memory. `reserve` may replace it. */
  get buffer(): ArrayBuffer {
    return this.#compiled().memory.buffer;
  }

  /** The memory as bytes, grown to `end` bytes if it is smaller. Throws RangeError beyond 4 GiB. */
  reserve(end: number): Uint8Array {
    const missing = end - this.buffer.byteLength;
    if (missing > 0) this.#compiled().memory.grow(Math.ceil(missing / pageBytes));
    return new Uint8Array(this.buffer);
  }

  /** Histograms of `bins` bins. Each is the sum of `tables` tables of u32, which lie one after another from `at` on. */
  sumTables(at: number, tables: number, { histograms = 1, bins = 256 } = {}): Uint32Array<ArrayBuffer> {
    const counts = new Uint32Array(this.buffer, at, bins * tables * histograms);
    const sums = new Uint32Array(bins * histograms);
    for (let table = 0; table < tables * histograms; table++) {
      const first = Math.floor(table / tables) * bins;
      for (let bin = 0; bin < bins; bin++) sums[first + bin]! += counts[table * bins + bin]!;
    }
    return sums;
  }

  #compiled(): { exports: Exports; memory: WebAssembly.Memory } {
    if (this.#instance) return this.#instance;
    const memory = new WebAssembly.Memory({ initial: 8, maximum: 65_536 });
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(readFileBeside(this.#file)), {
      env: { memory },
    });
    // Only the module's source knows the types of its exports.
    this.#instance = { exports: exports as unknown as Exports, memory };
    return this.#instance;
  }
}
