import { aborted, shutdownSignal } from '@halogrid/service';
import type { Command } from 'commander';
import { addCoordinatorOption, type CoordinatorOption, withCoordinator } from '../options/coordinator-option.ts';
import { addJobOptions, type JobOptions, parseJob } from '../options/job-options.ts';
import { onlyPreviews } from '../plan/only-previews.ts';
import { exitCodeOfSignal } from '../process/exit-code.ts';
import { stateWord } from '../progress/describe-progress.ts';
import { createProgressView, followJob } from '../progress/follow-job.ts';
import { describeJob, jobFacts } from '../summary/describe-job.ts';
import { reportEnd } from '../summary/describe-summary.ts';

export function addSubmitCommand(program: Command): void {
  const command = program
    .command('submit')
    .description("Gives a job to a cluster and prints its id; 'halogrid watch ID' follows it.")
    .argument('<source...>', 'image, video, folder, glob, http(s) or s3 URI, or manifest (.txt, .jsonl, .parquet)');
  addCoordinatorOption(addJobOptions(command))
    .option('--json', 'the accepted job as JSON')
    .action(async (sources: string[], options: JobOptions & CoordinatorOption & { json?: boolean }) => {
      const request = parseJob(sources, options, process.cwd());
      const little = onlyPreviews(request.spec!);
      if (little) console.error(little);
      const { job, page } = await withCoordinator(options, (client) => client.submit(request));
      // Scripts read the id from stdout.
      if (page) console.error(`Page: ${page}`);
      console.log(options.json ? JSON.stringify(jobFacts(job, Date.now()), null, 2) : job.jobId);
    });
}

export function addWatchCommand(program: Command): void {
  const command = program
    .command('watch')
    .description("Follows a job to its end, with the exit codes of 'halogrid run'. Ctrl-C stops watching, not the job.")
    .argument('<job>', 'its id, or as much of the beginning as no other id has');
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
    .description('Shows a job as it is now.')
    .argument('<job>', 'its id, or as much of the beginning as no other id has');
  addCoordinatorOption(command)
    .option('--json', 'as JSON')
    .action(async (jobId: string, options: CoordinatorOption & { json?: boolean }) => {
      const job = await withCoordinator(options, (client) => client.get(jobId));
      const nowMs = Date.now();
      process.stdout.write(
        options.json ? `${JSON.stringify(jobFacts(job, nowMs), null, 2)}\n` : describeJob(job, nowMs),
      );
    });
}

export function addCancelCommand(program: Command): void {
  const command = program
    .command('cancel')
    .description('Stops a job; one that has ended stays as it is.')
    .argument('<job>', 'its id, or as much of the beginning as no other id has');
  addCoordinatorOption(command).action(async (jobId: string, options: CoordinatorOption) => {
    const job = await withCoordinator(options, (client) => client.cancel(jobId));
    console.log(`Job ${job.jobId} is ${stateWord(job.state)}.`);
  });
}
