import { borderModes, catalogue, type KernelDefinition, ParameterError } from '@halogrid/kernels';
import type { KernelsAnswer, ParameterForm } from '@halogrid/proto';
import { mapFormats } from '@halogrid/proto/job-limits';

/** What a form of a pipeline is made of. */
export function kernelForms(): KernelsAnswer {
  const kernels = Object.entries(catalogue).map(([name, kernel]) => {
    return { name, summary: kernel.summary, parameters: parameterForms(kernel) };
  });
  return { kernels, borders: [...borderModes], mapFormats: [...mapFormats] };
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
