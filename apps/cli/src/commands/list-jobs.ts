import type { JobStatus } from '@halogrid/proto';
import { table } from '@halogrid/service/text-table';
import type { Command } from 'commander';
import { addCoordinatorOption, type CoordinatorOption, withCoordinator } from '../options/coordinator-option.ts';
import { addJobsOptions, type JobsChoice, listRequest } from '../options/jobs-options.ts';
import { describeAgo } from '../progress/describe-ago.ts';
import { describePixels, plural } from '../progress/quantities.ts';
import { jobFacts } from '../summary/describe-job.ts';

type ListJobsOptions = CoordinatorOption & JobsChoice & { json?: boolean };

export function addJobsCommand(program: Command): void {
  const command = program
    .command('jobs')
    .summary('list jobs, newest first')
    .description('Lists the jobs of a coordinator, newest first.');
  addCoordinatorOption(addJobsOptions(command))
    .option('--json', 'as JSON')
    .action(async (options: ListJobsOptions) => {
      const { jobs, leftOut } = await withCoordinator(options, (client) => client.jobs(listRequest(options)));
      const { stdout } = process;
      const terminal = stdout.isTTY ? { columns: stdout.columns, nowMs: Date.now() } : undefined;
      stdout.write(options.json ? `${JSON.stringify(jobs.map(jobFacts), null, 2)}\n` : jobTable(jobs, terminal));
      if (leftOut > 0) console.error(`${plural(leftOut, 'older job')} left out; --limit 0 lists all.`);
    });
}

/**
 * What a person reads of jobs, a line each. On a terminal, times are told from now, and where the results are is left out as soon as
 * it does not fit.
 */
export function jobTable(jobs: readonly JobStatus[], terminal?: { columns: number; nowMs: number }): string {
  if (jobs.length === 0) return 'No jobs.\n';
  const rows = jobs.map((status) => {
    const job = jobFacts(status);
    const { shards, shardsDone, pixels, quarantined } = job.counts;
    const done = `${shardsDone}/${shards}${job.planned ? '' : '+'}`;
    const submitted = terminal ? describeAgo(status.submittedMs, terminal.nowMs) : job.submitted;
    return [job.id, job.state, done, describePixels(pixels), String(quarantined), submitted, job.out];
  });
  const all = [['JOB', 'STATE', 'SHARDS', 'PIXELS', 'QUARANTINED', 'SUBMITTED', 'RESULTS'], ...rows];
  const whole = table(all);
  const isFitting = !terminal || whole.split('\n').every((line) => line.length <= terminal.columns);
  return isFitting ? whole : table(all.map((row) => row.slice(0, -1)));
}
