import { borderModes, kernelForms, kernelNames } from '@halogrid/kernels';
import { Argument, type Command } from 'commander';
import { describeKernel, describeKernels } from '../kernels/describe-kernels.ts';
import { parseWord } from '../options/option-values.ts';

export function addKernelsCommand(program: Command): void {
  program
    .command('kernels')
    .description(
      'Lists the kernels for --op; with a name, shows the parameters of that kernel, their allowed values and border rules.',
    )
    .addArgument(new Argument('[name]', 'a kernel').argParser(parseWord('a kernel', kernelNames)))
    .option('--json', 'as JSON')
    .action((name: string | undefined, { json }: { json?: boolean }) => {
      const all = kernelForms();
      const shown = name === undefined ? all : all.filter((kernel) => kernel.name === name);
      const facts = shown.map((kernel) => ({ ...kernel, borders: borderModes }));
      if (json) process.stdout.write(`${JSON.stringify(name === undefined ? facts : facts[0], null, 2)}\n`);
      else process.stdout.write(name === undefined ? describeKernels(all) : describeKernel(shown[0]!));
    });
}
