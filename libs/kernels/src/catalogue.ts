import { conv } from './conv/conv.ts';
import type { KernelDefinition } from './kernel.ts';
import { lbp } from './lbp/lbp.ts';
import { ldp } from './ldp/ldp.ts';
import { ParameterError } from './parameter-error.ts';

/** Every kernel there is. To add one, add its folder and its line here. */
export const catalogue: readonly KernelDefinition[] = [lbp, ldp, conv];

/** The kernel of that name. Throws ParameterError where there is none. */
export function findKernel(name: string): KernelDefinition {
  const kernel = catalogue.find((k) => k.name === name);
  if (!kernel) throw new ParameterError('--op', name, `one of ${catalogue.map((k) => k.name).join(', ')}`);
  return kernel;
}
