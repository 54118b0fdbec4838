import { UsageError } from '@halogrid/service';
import type { Command } from 'commander';
import { parseWord } from '../options/option-values.ts';

interface TuneOptions {
  device: 'gpu' | 'software';
  quick: boolean;
  forget: boolean;
}

export function addTuneCommand(program: Command): void {
  program
    .command('tune')
    .description(
      'Measures the strategies of each kernel on the GPU of this machine and keeps the fastest for run and node. The results ' +
        'are the same bytes with any choice.',
    )
    .option('--device <kind>', 'gpu or software', parseWord('--device', ['gpu', 'software']), 'gpu')
    .option('--quick', 'measure LBP only, with one workgroup shape per strategy', false)
    .option('--forget', 'remove the choices that are kept for this device', false)
    .action(async ({ device, quick, forget }: TuneOptions) => {
      if (quick && forget) throw new UsageError('Expected --quick or --forget but received both');
      const { forgetDevice, tuneDevice } = await import('@halogrid/bench/tune');
      const said = forget
        ? await forgetDevice(device)
        : await tuneDevice({ kind: device, isQuick: quick }, (line) => console.error(line));
      process.stdout.write(said);
    });
}
