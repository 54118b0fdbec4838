import type { JobStatus } from '@halogrid/proto';
import { aborted, shutdownSignal } from '@halogrid/service';
import { table } from '@halogrid/service/text-table';
import type { Command } from 'commander';
import { addCoordinatorOption, type CoordinatorOption, withCoordinator } from '../options/coordinator-option.ts';
import { addJobOptions, type JobOptions, parseJob } from '../options/job-options.ts';
import { onlyPreviews } from '../plan/only-previews.ts';
import { exitCodeOfSignal } from '../process/exit-code.ts';
import { stateWord } from '../progress/describe-progress.ts';
import { createProgressView, followJob } from '../progress/follow-job.ts';
import { describePixels } from '../progress/quantities.ts';
import { describeJob, jobFacts } from '../summary/describe-job.ts';
import { reportEnd } from '../summary/describe-summary.ts';

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

export function addSubmitCommand(program: Command): void {
  const command = program
    .command('submit')
    .summary('give a job to a cluster and print its id')
    .description("Gives a job to a cluster and prints its id; 'halogrid watch ID' follows it.")
    .argument('<source...>', 'image file, video, folder, glob, or manifest.txt with a URI a line');
  addCoordinatorOption(addJobOptions(command))
    .option('--json', 'the accepted job as JSON')
    .action(async (sources: string[], options: JobOptions & CoordinatorOption & { json?: boolean }) => {
      const request = parseJob(sources, options, process.cwd());
      const little = onlyPreviews(request.spec!);
      if (little) console.error(little);
      const job = await withCoordinator(options, (client) => client.submit(request));
      console.log(options.json ? JSON.stringify(jobFacts(job), null, 2) : job.jobId);
    });
}

export function addWatchCommand(program: Command): void {
  const command = program
    .command('watch')
    .summary('follow a job to its end')
    .description("Follows a job to its end, with the exit codes of 'halogrid run'. Ctrl-C stops watching, not the job.")
    .argument('<job>', 'its id');
  addCoordinatorOption(command)
    .option('--json', 'a machine-readable summary on stdout, progress on stderr')
    .action(async (jobId: string, options: CoordinatorOption & { json?: boolean }) => {
      process.exitCode = await watch(jobId, options);
    });
}

async function watch(jobId: string, options: CoordinatorOption & { json?: boolean }): Promise<number> {
  const signal = shutdownSignal();
  const view = createProgressView(process.stderr, Date.now);
  return withCoordinator(options, async (client) => {
    const job = await Promise.race([followJob(client, jobId, view), aborted(signal)]);
    if (job) return reportEnd(job, options.json ?? false);
    view.note(`Job ${jobId} goes on; 'halogrid cancel ${jobId}' stops it.`);
    return exitCodeOfSignal(signal.reason);
  });
}

export function addStatusCommand(program: Command): void {
  const command = program
    .command('status')
    .summary('show a job as it is now')
    .description('Shows a job as it is now.')
    .argument('<job>', 'its id');
  addCoordinatorOption(command)
    .option('--json', 'as JSON')
    .action(async (jobId: string, options: CoordinatorOption & { json?: boolean }) => {
      const job = await withCoordinator(options, (client) => client.get(jobId));
      process.stdout.write(options.json ? `${JSON.stringify(jobFacts(job), null, 2)}\n` : describeJob(job));
    });
}

export function addCancelCommand(program: Command): void {
  const command = program
    .command('cancel')
    .summary('stop a job')
    .description('Stops a job; one that has ended stays as it is.')
    .argument('<job>', 'its id');
  addCoordinatorOption(command).action(async (jobId: string, options: CoordinatorOption) => {
    const job = await withCoordinator(options, (client) => client.cancel(jobId));
    console.log(`Job ${jobId} is ${stateWord(job.state)}.`);
  });
}
