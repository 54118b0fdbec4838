import { resolve } from 'node:path';
import type { Command } from 'commander';

export function addShowCommand(program: Command): void {
  program
    .command('show')
    .description(
      'Writes one page of HTML about a finished job, which needs neither a coordinator nor a network: parameters, counts, ' +
        'digest, charts, pictures, what was quarantined and why, nodes and times. Prints its path.',
    )
    .argument('<out>', 'output folder of a job')
    .option('-o, --out <file>', 'where to (default: halogrid-report-ID.html)')
    .action(async (out: string, options: { out?: string }) => {
      const { writeReport } = await import('../report/write-report.ts');
      console.log(await writeReport(resolve(out), options.out && resolve(options.out)));
    });
}
