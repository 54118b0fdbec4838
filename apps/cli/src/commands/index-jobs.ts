import { UsageError } from '@halogrid/service';
import type { Command } from 'commander';
import type { IndexOptions } from '../search/index-finished-jobs.ts';

export function addIndexCommand(program: Command): void {
  program
    .command('index')
    .description(
      'Puts the histograms of finished jobs into an index that `halogrid search` looks into. A job that is there already is ' +
        'skipped; one that was run again into the same folder takes the place of the earlier.',
    )
    .argument('[out...]', 'output folders of jobs')
    .requiredOption('--to <dir>', 'folder of the index')
    .option('--pipeline <name>', 'of jobs of several pipelines, the one to index')
    .option('--compact', 'join the segments that earlier calls have written')
    .option('--json', 'what was done as JSON on stdout')
    .action(async (outs: string[], options: IndexOptions) => {
      if (outs.length === 0 && !options.compact) throw new UsageError('Expected output folders of jobs, or --compact');
      const { indexFinishedJobs } = await import('../search/index-finished-jobs.ts');
      await indexFinishedJobs(outs, options);
    });
}
