import { resolve } from 'node:path';
import type { Command } from 'commander';

export function addShowCommand(program: Command): void {
  program
    .command('show')
    .description(
      'Writes one HTML page about a finished job and prints its path. The page needs neither a coordinator nor a network. It has ' +
        'parameters, counts, digest, charts, pictures, quarantined inputs with their reasons, nodes and times.',
    )
    .argument('<out>', 'output of a job: a folder, or s3://BUCKET/PREFIX')
    .option('-o, --out <file>', 'where to write it (default: halogrid-report-ID.html)')
    .action(async (out: string, options: { out?: string }) => {
      const { writeReport } = await import('../report/write-report.ts');
      console.log(await writeReport(out, options.out && resolve(options.out)));
    });
}
