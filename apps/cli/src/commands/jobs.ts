import { aborted, shutdownSignal } from '@halogrid/service';
import type { Command } from 'commander';
import { addCoordinatorOption, type CoordinatorOption, withCoordinator } from '../options/coordinator-option.ts';
import { addJobOptions, type JobOptions, parseJob } from '../options/job-options.ts';
import { onlyPreviews } from '../plan/only-previews.ts';
import { exitCodeOfSignal } from '../process/exit-code.ts';
import { createProgressView, followJob } from '../progress/follow-job.ts';
import { describeJob, jobFacts } from '../summary/describe-job.ts';
import { reportEnd } from '../summary/describe-summary.ts';

export function addSubmitCommand(program: Command): void {
  const command = program
    .command('submit')
    .summary('give a job to a cluster and print its id')
    .description("Gives a job to a cluster and prints its id; 'halogrid watch ID' follows it.")
    .argument('<source...>', 'image, video, folder, glob, http(s) or s3 URI, or manifest (.txt, .jsonl, .parquet)');
  addCoordinatorOption(addJobOptions(command))
    .option('--json', 'the accepted job as JSON')
    .action(async (sources: string[], options: JobOptions & CoordinatorOption & { json?: boolean }) => {
      const request = parseJob(sources, options, process.cwd());
      const little = onlyPreviews(request.spec!);
      if (little) console.error(little);
      const { id, page, status } = await withCoordinator(options, (client) => client.submit(request));
      // Scripts read the id from stdout.
      if (page) console.error(`Page: ${page}`);
      console.log(options.json ? JSON.stringify(jobFacts(status, Date.now()), null, 2) : id);
    });
}

export function addWatchCommand(program: Command): void {
  const command = program
    .command('watch')
    .summary('follow a job to its end')
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
    const ended = await Promise.race([client.job(jobId).then((job) => followJob(job, view)), aborted(signal)]);
    if (ended) return reportEnd(ended, options.json ?? false);
    view.note(`Job ${jobId} goes on; 'halogrid cancel ${jobId}' stops it.`);
    return exitCodeOfSignal(signal.reason);
  });
}

export function addStatusCommand(program: Command): void {
  const command = program
    .command('status')
    .summary('show a job as it is now')
    .description('Shows a job as it is now.')
    .argument('<job>', 'its id, or as much of the beginning as no other id has');
  addCoordinatorOption(command)
    .option('--json', 'as JSON')
    .action(async (jobId: string, options: CoordinatorOption & { json?: boolean }) => {
      const { status } = await withCoordinator(options, (client) => client.job(jobId));
      const nowMs = Date.now();
      process.stdout.write(
        options.json ? `${JSON.stringify(jobFacts(status, nowMs), null, 2)}\n` : describeJob(status, nowMs),
      );
    });
}

export function addCancelCommand(program: Command): void {
  const command = program
    .command('cancel')
    .summary('stop a job')
    .description('Stops a job; one that has ended stays as it is.')
    .argument('<job>', 'its id, or as much of the beginning as no other id has');
  addCoordinatorOption(command).action(async (jobId: string, options: CoordinatorOption) => {
    const job = await withCoordinator(options, async (client) => {
      const found = await client.job(jobId);
      await found.cancel();
      return found;
    });
    console.log(`Job ${job.id} is ${job.state}.`);
  });
}
