import type { SubmitRequest } from '@halogrid/proto';
import { aborted, shutdownSignal } from '@halogrid/service';
import type { Command } from 'commander';
import { untilThere } from '../client/coordinator-client.ts';
import {
  addCoordinatorOption,
  type CoordinatorOption,
  jobArgument,
  withCoordinator,
} from '../options/coordinator-option.ts';
import { addJobOptions, type JobOptions, parseJob } from '../options/job-options.ts';
import { addQuietOption, type VoiceChoice } from '../options/voice-options.ts';
import { onlyPreviews } from '../plan/only-previews.ts';
import { exitCodeOfSignal } from '../process/exit-code.ts';
import { createProgressView, followJob, quietView } from '../progress/follow-job.ts';
import { describeEnd, describeJob, jobFacts } from '../summary/describe-job.ts';
import { reportEnd } from '../summary/describe-summary.ts';

type SubmitOptions = JobOptions & CoordinatorOption & VoiceChoice & { wait?: boolean; json?: boolean };

export function addSubmitCommand(program: Command): void {
  const command = program
    .command('submit')
    .description("Submits a job to a cluster and prints its id; 'halogrid watch ID' follows it.")
    .argument(
      '<source...>',
      'image, video, folder, tar, Parquet file, glob, http(s), s3, gs or az URI, or manifest (.txt, .jsonl, .parquet)',
    );
  addQuietOption(addCoordinatorOption(addJobOptions(command)))
    .option('--wait', 'if no coordinator answers, wait until one does (to wait for the job: halogrid watch)')
    .option('--json', 'print the accepted job as JSON')
    .action(async (sources: string[], options: SubmitOptions) => {
      const request = parseJob(sources, options, process.cwd());
      const note = (line: string | undefined): void => {
        if (line && !options.quiet) console.error(line);
      };
      note(onlyPreviews(request.spec!));
      const { id, page, status } = await submit(request, options, note);
      // Scripts read the id from stdout.
      note(page && `Page: ${page}`);
      console.log(options.json ? JSON.stringify(jobFacts(status, Date.now()), null, 2) : id);
    });
}

/** A coordinator that is being restarted serves by then. */
const saidAfterMs = 2_000;

/**
 * Submits the job to the coordinator. With --wait, waits for a coordinator that does not answer yet, and says so once.
 */
async function submit(request: SubmitRequest, options: SubmitOptions, note: (line: string) => void) {
  const late = setTimeout(
    () => note(`No coordinator answers at ${options.coordinator}; the job is submitted as soon as one does.`),
    saidAfterMs,
  );
  // With a file, the client itself says that it waits.
  if (!options.wait || options.coordinatorFile !== undefined) clearTimeout(late);
  try {
    return await withCoordinator(options, (client) => client.submit(request), options.wait ? untilThere : undefined);
  } finally {
    clearTimeout(late);
  }
}

type WatchOptions = CoordinatorOption & VoiceChoice & { json?: boolean };

export function addWatchCommand(program: Command): void {
  const command = program
    .command('watch')
    .description("Follows a job to its end, with the exit codes of 'halogrid run'. Ctrl-C stops watching, not the job.")
    .argument('<job>', jobArgument);
  addQuietOption(addCoordinatorOption(command))
    .option('--json', 'print a machine-readable summary on stdout, progress on stderr')
    .action(async (jobId: string, options: WatchOptions) => {
      process.exitCode = await watch(jobId, options);
    });
}

async function watch(jobId: string, options: WatchOptions): Promise<number> {
  const signal = shutdownSignal();
  const view = options.quiet ? quietView : createProgressView(process.stderr, Date.now);
  return withCoordinator(options, async (client) => {
    const ended = await Promise.race([client.job(jobId).then((job) => followJob(job, view)), aborted(signal)]);
    if (ended) return reportEnd(ended, options);
    view.note(`Job ${jobId} continues; 'halogrid cancel ${jobId}' stops it.`);
    return exitCodeOfSignal(signal.reason);
  });
}

export function addStatusCommand(program: Command): void {
  const command = program.command('status').description('Shows a job as it is now.').argument('<job>', jobArgument);
  addCoordinatorOption(command)
    .option('--json', 'print JSON')
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
    .description('Stops a job. If the job has ended before, the command says how and exits with 0.')
    .argument('<job>', jobArgument);
  addCoordinatorOption(command).action(async (jobId: string, options: CoordinatorOption) => {
    const said = await withCoordinator(options, async (client) => {
      const job = await client.job(jobId);
      if (job.hasEnded) return describeEnd(job.status, Date.now());
      await job.cancel();
      return `Job ${job.id} is ${job.state}.`;
    });
    console.log(said);
  });
}

export function addPauseCommand(program: Command): void {
  const command = program
    .command('pause')
    .description(
      "Has no more of a job computed until 'halogrid resume'. What nodes compute now counts. The job stays paused if its coordinator ends.",
    )
    .argument('<job>', jobArgument);
  addCoordinatorOption(command).action(async (jobId: string, options: CoordinatorOption) => {
    const job = await withCoordinator(options, async (client) => {
      const found = await client.job(jobId);
      await found.pause();
      return found;
    });
    console.log(`Job ${job.id} is paused; 'halogrid resume ${job.id}' goes on with it.`);
  });
}

export function addResumeCommand(program: Command): void {
  const command = program.command('resume').description('Goes on with a paused job.').argument('<job>', jobArgument);
  addCoordinatorOption(command).action(async (jobId: string, options: CoordinatorOption) => {
    const said = await withCoordinator(options, async (client) => {
      const job = await client.job(jobId);
      const wasPaused = job.isPaused;
      await job.resume();
      return wasPaused ? `Job ${job.id} goes on.` : `Job ${job.id} was not paused.`;
    });
    console.log(said);
  });
}
