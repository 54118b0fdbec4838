import { lbpReference } from './lbp/reference.ts';
import type { Pipeline } from './pipeline.ts';
import type { ItemResult, PlaneItem } from './plane-item.ts';

/** Computes one item with the CPU twins, which state what every device must return. */
export function runReference(pipeline: Pipeline, bytes: Uint8Array, item: PlaneItem, withMap: boolean): ItemResult {
  const { kernel, parameters } = pipeline.operations[0]!;
  switch (kernel) {
    case 'lbp':
      return lbpReference(parameters, pipeline.border, bytes, item, withMap);
    default:
      throw new Error(`No CPU twin of kernel '${kernel}'`);
  }
}
