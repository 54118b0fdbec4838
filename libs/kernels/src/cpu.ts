// What the cpu device runs; apart from index.ts so that the coordinator never loads it.
import { lbpWasm } from './lbp/lbp-wasm.ts';
import type { Pipeline } from './pipeline.ts';
import type { ItemResult, PlaneItem } from './plane-item.ts';

/** Computes one item on this thread, as fast as it can; the result is that of runReference. */
export function runCpu(pipeline: Pipeline, bytes: Uint8Array, item: PlaneItem, withMap: boolean): ItemResult {
  const { kernel, parameters } = pipeline.operations[0]!;
  switch (kernel) {
    case 'lbp':
      return lbpWasm(parameters, pipeline.border, bytes, item, withMap);
    default:
      throw new Error(`No CPU program of kernel '${kernel}'`);
  }
}
