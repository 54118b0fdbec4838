import { borderModes, type KernelForm } from '@halogrid/kernels';
import { table } from '@halogrid/service/text-table';
import { parametersInFiles } from '../options/read-operation.ts';

/** All kernels, a line each, and how to see more. */
export function describeKernels(kernels: readonly KernelForm[]): string {
  const rows = kernels.map(({ name, summary }) => [name, summary]);
  return `${table([['KERNEL', 'COMPUTES'], ...rows])}\n'halogrid kernels NAME' shows the parameters of one.\n`;
}

/** What one must know to write an --op of the kernel. */
export function describeKernel({ name, summary, parameters, further, border, example }: KernelForm): string {
  const rows = [
    ...parameters.map((its) => [its.name, its.isRequired ? 'required' : its.value, its.allowed]),
    ...further.map((its) => [
      its.name,
      '',
      parametersInFiles.includes(its.name) ? `a file: ${its.allowed}` : its.allowed,
    ]),
  ];
  const borders = borderModes.map((mode) => (mode === border ? `${mode} (default)` : mode)).join(', ');
  return [
    `${name}: ${summary}\n\n`,
    table([['PARAMETER', 'DEFAULT', 'ALLOWED'], ...rows]),
    `\nBorder (--border): ${borders}\n`,
    `\nExample:\n  halogrid run photos --op ${example}\n`,
  ].join('');
}
