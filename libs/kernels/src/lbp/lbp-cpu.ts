import type { RunKernel } from '../run-pipeline.ts';
import { lbpWasm } from './lbp-wasm.ts';
import { ringOf } from './parameters.ts';
import { lbpReference } from './reference.ts';

/** What the cpu device runs: WebAssembly for the 3x3 square of 8-bit pixels, the twin for everything else. */
export const lbpCpu: RunKernel = (operation, ...rest) => {
  const { square, labels } = ringOf(operation.parameters);
  return (square && labels !== 'var' && operation.reads !== 'u16' ? lbpWasm : lbpReference)(operation, ...rest);
};
