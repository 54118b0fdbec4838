import type { JobStatus } from '@halogrid/proto';
import { table } from '@halogrid/service/text-table';
import type { Command } from 'commander';
import { addCoordinatorOption, type CoordinatorOption, withCoordinator } from '../options/coordinator-option.ts';
import { describePixels } from '../progress/quantities.ts';
import { jobFacts } from '../summary/job-facts.ts';

export function addJobsCommand(program: Command): void {
  const command = program
    .command('jobs')
    .summary('list jobs, newest first')
    .description('Lists the jobs of a coordinator, newest first.');
  addCoordinatorOption(command)
    .option('--json', 'as JSON')
    .action(async (options: CoordinatorOption & { json?: boolean }) => {
      const jobs = await withCoordinator(options, (client) => client.jobs());
      process.stdout.write(options.json ? `${JSON.stringify(jobs.map(jobFacts), null, 2)}\n` : jobTable(jobs));
    });
}

function jobTable(jobs: readonly JobStatus[]): string {
  if (jobs.length === 0) return 'No jobs.\n';
  const rows = jobs.map(jobFacts).map((job) => {
    const { shards, shardsDone, pixels, quarantined } = job.counts;
    const done = `${shardsDone}/${shards}${job.planned ? '' : '+'}`;
    return [job.id, job.state, done, describePixels(pixels), String(quarantined), job.submitted, job.out];
  });
  return table([['JOB', 'STATE', 'SHARDS', 'PIXELS', 'QUARANTINED', 'SUBMITTED', 'RESULTS'], ...rows]);
}
