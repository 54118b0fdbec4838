import { conv } from './conv/conv.ts';
import { glcm } from './glcm/glcm.ts';
import type { KernelDefinition, Kernels } from './kernel/kernel.ts';
import { ParameterError } from './kernel/parameter-error.ts';
import { lbp } from './lbp/lbp.ts';
import { ldp } from './ldp/ldp.ts';

/** All kernels. A kernel that is added here, but not in cpu.ts, gpu.ts or reference.ts, does not compile. */
export const catalogue = { lbp, ldp, conv, glcm } satisfies Kernels;

export type KernelName = keyof typeof catalogue;
export type SettingsOf<Name extends KernelName> = ReturnType<(typeof catalogue)[Name]['parse']>;

export const kernelNames = Object.keys(catalogue) as readonly KernelName[];

/** The kernel called `name`. Throws ParameterError if there is no such kernel. */
export function findKernel(name: string, kernels: Kernels = catalogue): KernelDefinition<unknown> {
  const kernel = Object.hasOwn(kernels, name) ? kernels[name] : undefined;
  if (!kernel) throw new ParameterError('the kernel', name, Object.keys(kernels));
  return kernel;
}
