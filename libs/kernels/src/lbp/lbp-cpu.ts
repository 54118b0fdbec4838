import type { RunKernel } from '../pipeline/run-pipeline.ts';
import type { LbpRing } from './parameters.ts';
import { lbpReference } from './reference.ts';
import { ringWasm } from './ring-wasm.ts';
import { squareWasm } from './square-wasm.ts';

/** What the cpu device runs: WebAssembly for codes and labels, the reference for variances. */
export const lbpCpu: RunKernel<LbpRing> = (operation, ...rest) => {
  const { square, labels } = operation.settings;
  return (labels === 'var' ? lbpReference : square ? squareWasm : ringWasm)(operation, ...rest);
};
