import { borderModes, type KernelForm, kernelForms, kernelNames } from '@halogrid/kernels';
import { table } from '@halogrid/service/text-table';
import { Argument, type Command } from 'commander';
import { parseWord } from '../options/option-values.ts';
import { parametersInFiles } from '../options/read-operation.ts';

export function addKernelsCommand(program: Command): void {
  program
    .command('kernels')
    .description(
      'Lists the kernels for --op; with a name, shows the parameters of that kernel, their allowed values and border rules.',
    )
    .addArgument(new Argument('[name]', 'a kernel').argParser(parseWord('a kernel', kernelNames)))
    .option('--json', 'print JSON')
    .action((name: string | undefined, { json }: { json?: boolean }) => {
      const all = kernelForms();
      const shown = name === undefined ? all : all.filter((kernel) => kernel.name === name);
      const facts = shown.map((kernel) => ({ ...kernel, borders: borderModes }));
      if (json) process.stdout.write(`${JSON.stringify(name === undefined ? facts : facts[0], null, 2)}\n`);
      else process.stdout.write(name === undefined ? describeKernels(all) : describeKernel(shown[0]!));
    });
}

/** All kernels, a line each, and how to see more. */
function describeKernels(kernels: readonly KernelForm[]): string {
  const rows = kernels.map(({ name, summary }) => [name, summary]);
  return `${table([['KERNEL', 'COMPUTES'], ...rows])}\n'halogrid kernels NAME' shows the parameters of one.\n`;
}

/** What one must know to write an --op of the kernel. */
function describeKernel({ name, summary, parameters, further, border, example }: KernelForm): string {
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
