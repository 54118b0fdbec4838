import { runCpu } from '../cpu.ts';
import type { ItemResult } from '../kernel/plane-item.ts';
import { runReference } from '../reference.ts';
import { type ComputeDevice, closedError, type Work } from './compute-device.ts';

/** The smallest valid WebAssembly module. */
const emptyModule = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);

/** Computes on the calling thread: with WebAssembly, or with the references. */
export class ThreadDevice implements ComputeDevice {
  readonly on: 'wasm' | 'reference';
  readonly name: string;
  readonly reason: string;
  /** A tile of 4096 x 4096 pixels and its halo, and maps of four bytes a pixel. */
  readonly mostBytes = 2 ** 27;
  #memory: Uint8Array | undefined = new Uint8Array(0);

  /** Throws one sentence if WebAssembly is not available. */
  constructor(on: 'wasm' | 'reference', reason: string) {
    if (on === 'wasm') requireWebAssembly();
    this.on = on;
    this.name = on === 'wasm' ? 'WebAssembly' : 'Reference';
    this.reason = reason;
  }

  async compute({ pipeline, item, bytes, withMap, fill }: Work): Promise<ItemResult> {
    if (!this.#memory) throw closedError();
    if (this.#memory.length < bytes) this.#memory = new Uint8Array(bytes);
    fill(this.#memory);
    const run = this.on === 'wasm' ? runCpu : runReference;
    return run(pipeline, this.#memory, item, withMap);
  }

  close(): void {
    this.#memory = undefined;
  }
}

function requireWebAssembly(): void {
  try {
    new WebAssembly.Module(emptyModule);
  } catch (error) {
    const remedy = "A page's Content-Security-Policy must have 'wasm-unsafe-eval' in script-src.";
    throw new Error(`WebAssembly is not available (${(error as Error).message}). ${remedy}`);
  }
}
