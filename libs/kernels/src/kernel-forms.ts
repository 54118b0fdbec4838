import { catalogue } from './catalogue.ts';
import type { BorderMode } from './kernel/border.ts';
import type { KernelDefinition, Parameters } from './kernel/kernel.ts';
import { ParameterError } from './kernel/parameter-error.ts';

/** A parameter of a kernel, for people and forms. */
export interface ParameterForm {
  name: string;
  /** What a form begins with: the default, unless `isRequired`. */
  value: string;
  /** Whether it has no default. */
  isRequired: boolean;
  /** What it may be, where that is one of some names. */
  choices: string[];
  /** What it may be, in words. */
  allowed: string;
}

export interface KernelForm {
  name: string;
  summary: string;
  parameters: ParameterForm[];
  /** What may be given, too, and is not there otherwise: a clause each of what it may be. */
  further: { name: string; allowed: string }[];
  /** The border rule where none is asked for. */
  border: BorderMode;
  /** A value of --op. */
  example: string;
}

/** What a form of a pipeline is made of, and what is said of each kernel. */
export function kernelForms(): KernelForm[] {
  return Object.entries(catalogue).map(([name, definition]) => {
    const kernel: KernelDefinition<unknown> = definition;
    const begin = kernel.complete(kernel.example ?? {});
    const parameters = Object.entries(begin).map(([parameter, value]) => {
      const { allowed, choices } = refusalOf(() => kernel.complete({ ...begin, [parameter]: '?' }));
      const isRequired = kernel.example !== undefined && Object.hasOwn(kernel.example, parameter);
      return { name: parameter, value, isRequired, choices, allowed };
    });
    const further = refusalOf(() => kernel.complete({ '?': '?' }))
      .choices.filter((each) => !Object.hasOwn(begin, each))
      .map((each) => ({ name: each, allowed: allowedAlone(kernel, begin, each) }));
    const given = Object.entries(kernel.example ?? begin).map((pair) => pair.join('='));
    const border = kernel.defaultBorder(kernel.parse(begin));
    return { name, summary: kernel.summary, parameters, further, border, example: [name, given.join(',')].join(':') };
  });
}

/** What is said of a parameter that is there by itself; of one that needs others, what is said of it beside them. */
function allowedAlone(kernel: KernelDefinition<unknown>, begin: Parameters, name: string): string {
  const alone = refusalOf(() => kernel.complete({ [name]: '?' }));
  return alone.of.endsWith(`:${name}`)
    ? alone.allowed
    : refusalOf(() => kernel.complete({ ...begin, [name]: '?' })).allowed;
}

/** What is allowed, and of which parameter, as a refusal has it. */
function refusalOf(complete: () => unknown): { allowed: string; choices: string[]; of: string } {
  try {
    complete();
    return { allowed: '', choices: [], of: '' };
  } catch (error) {
    if (!(error instanceof ParameterError)) throw error;
    const { allowed, choices, parameter } = error;
    return { allowed: allowed.replace(/,$/, ''), choices: [...choices], of: parameter };
  }
}
