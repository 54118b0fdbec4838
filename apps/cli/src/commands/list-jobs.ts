import type { JobStatus } from '@halogrid/proto';
import { table } from '@halogrid/service/text-table';
import type { Command } from 'commander';
import { addCoordinatorOption, type CoordinatorOption, withCoordinator } from '../options/coordinator-option.ts';
import { addJobsOptions, type JobsChoice } from '../options/jobs-options.ts';
import { describeAgo } from '../progress/describe-ago.ts';
import { describePixels, plural } from '../progress/quantities.ts';
import { jobFacts } from '../summary/describe-job.ts';

type ListJobsOptions = CoordinatorOption & JobsChoice & { json?: boolean };

export function addJobsCommand(program: Command): void {
  const command = program.command('jobs').description('Lists the jobs of a coordinator, newest first.');
  addCoordinatorOption(addJobsOptions(command))
    .option('--json', 'print JSON')
    .action(async (options: ListJobsOptions) => {
      const { jobs, leftOut } = await withCoordinator(options, (client) => client.jobs(options));
      const { stdout } = process;
      const nowMs = Date.now();
      const facts = jobs.map((job) => jobFacts(job, nowMs));
      const columns = stdout.isTTY ? stdout.columns : undefined;
      stdout.write(options.json ? `${JSON.stringify(facts, null, 2)}\n` : jobTable(jobs, nowMs, columns));
      if (leftOut > 0) console.error(`${plural(leftOut, 'older job')} left out; --limit 0 lists all.`);
    });
}

/**
 * The table of jobs for people, a line each. `columns` is the width of a terminal: then times are relative to now, and
 * the results are left out if they do not fit.
 */
export function jobTable(jobs: readonly JobStatus[], nowMs: number, columns?: number): string {
  if (jobs.length === 0) return 'No jobs.\n';
  const areOwned = jobs.some((job) => job.owner !== '');
  /** A column that is left out if no job has an owner. */
  const owner = (name: string | null): string[] => (areOwned ? [name ?? ''] : []);
  const rows = jobs.map((status) => {
    const job = jobFacts(status, nowMs);
    const { shards, shardsDone, pixels, quarantined } = job.counts;
    const done = `${shardsDone}/${shards}${job.planned ? '' : '+'}`;
    const submitted = columns ? describeAgo(status.submittedMs, nowMs) : job.submitted;
    const state = job.paused ? 'paused' : job.state;
    return [job.id, ...owner(job.owner), state, done, describePixels(pixels), String(quarantined), submitted, job.out];
  });
  const all = [['JOB', ...owner('OWNER'), 'STATE', 'SHARDS', 'PIXELS', 'QUARANTINED', 'SUBMITTED', 'RESULTS'], ...rows];
  const whole = table(all);
  const isFitting = !columns || whole.split('\n').every((line) => line.length <= columns);
  return isFitting ? whole : table(all.map((row) => row.slice(0, -1)));
}
