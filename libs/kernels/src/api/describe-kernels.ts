import { catalogue, type KernelName } from '../catalogue.ts';
import type { KernelDefinition } from '../kernel/kernel.ts';
import { ParameterError } from '../kernel/parameter-error.ts';
import type { KernelForm, ParameterForm } from './types.ts';

/** What a form of each kernel of the catalogue is made of. */
export function describeKernels(): KernelForm[] {
  return Object.entries(catalogue).map(([name, kernel]) => {
    return { name: name as KernelName, summary: kernel.summary, parameters: parameterForms(kernel) };
  });
}

/** The parameters of a kernel: what each may be is what the kernel says where it refuses a value. */
function parameterForms(kernel: Pick<KernelDefinition<never>, 'complete' | 'example'>): ParameterForm[] {
  const begin = kernel.complete(kernel.example ?? {});
  return Object.entries(begin).map(([name, value]) => {
    const allowed = refusalOf(() => kernel.complete({ ...begin, [name]: '?' }));
    return { name, value, choices: choicesOf(allowed), allowed };
  });
}

function refusalOf(complete: () => unknown): string {
  try {
    complete();
    return '';
  } catch (error) {
    if (!(error instanceof ParameterError)) throw error;
    return /^Expected (.*?),? for \S+ but received /.exec(error.message)?.[1] ?? '';
  }
}

/** `one of a, b` has two. */
function choicesOf(allowed: string): string[] {
  const names = /^one of (.*)$/.exec(allowed)?.[1]?.split(', ') ?? [];
  return names.every((name) => /^[\w.-]+$/.test(name)) ? names : [];
}
