import { catalogue } from './catalogue.ts';
import type { BorderMode } from './kernel/border.ts';
import type { KernelDefinition, Parameters } from './kernel/kernel.ts';
import { ParameterError } from './kernel/parameter-error.ts';

/** A parameter of a kernel, for display and forms. */
export interface ParameterForm {
  name: string;
  /** The initial value of a form: the default, unless `isRequired`. */
  value: string;
  /** Whether it has no default. */
  isRequired: boolean;
  /** The allowed values, if these are names. */
  choices: string[];
  /** The allowed values, in words. */
  allowed: string;
}

export interface KernelForm {
  name: string;
  summary: string;
  parameters: ParameterForm[];
  /** Optional parameters that have no initial value; `allowed` is a clause about the allowed values. */
  further: { name: string; allowed: string }[];
  /** The default border rule. */
  border: BorderMode;
  /** A value of --op. */
  example: string;
}

/** For each kernel, the fields of a form and their descriptions. */
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

/** The allowed values of a parameter when given alone or, if it needs other parameters, when given with them. */
function allowedAlone(kernel: KernelDefinition<unknown>, begin: Parameters, name: string): string {
  const alone = refusalOf(() => kernel.complete({ [name]: '?' }));
  return alone.of.endsWith(`:${name}`)
    ? alone.allowed
    : refusalOf(() => kernel.complete({ ...begin, [name]: '?' })).allowed;
}

/** The allowed values, and the name of the parameter, from the error that `complete` throws. */
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
