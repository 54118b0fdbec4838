import { UsageError } from '@halogrid/service';
import type { Command } from 'commander';
import type { IndexOptions } from '../search/index-finished-jobs.ts';

export function addIndexCommand(program: Command): void {
  program
    .command('index')
    .description(
      'Adds the histograms of finished jobs to an index for `halogrid search`. A job that the index has already is skipped; a ' +
        'job that was run again with the same output replaces the earlier one.',
    )
    .argument('[out...]', 'outputs of jobs: folders, or s3://BUCKET/PREFIX')
    .requiredOption('--to <dir>', 'folder of the index')
    .option('--pipeline <name>', 'the pipeline to index, if the jobs have several')
    .option('--compact', 'merge the segments that earlier calls have written')
    .option('--json', 'print what was done as JSON')
    .action(async (outs: string[], options: IndexOptions) => {
      if (outs.length === 0 && !options.compact) throw new UsageError('Expected outputs of jobs, or --compact');
      const { indexFinishedJobs } = await import('../search/index-finished-jobs.ts');
      await indexFinishedJobs(outs, options);
    });
}
