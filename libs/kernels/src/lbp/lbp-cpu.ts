import type { RunKernel } from '../run-pipeline.ts';
import { lbpWasm } from './lbp-wasm.ts';
import { ringOf } from './parameters.ts';
import { lbpReference } from './reference.ts';

/** What the cpu device runs: WebAssembly for the 3x3 square, the twin for neighbours between pixels. */
export const lbpCpu: RunKernel = (operation, ...rest) => {
  const { square, labels } = ringOf(operation.parameters);
  return (square && labels !== 'var' ? lbpWasm : lbpReference)(operation, ...rest);
};
