import { aborted, shutdownSignal } from '@halogrid/service';
import type { Command } from 'commander';
import { addCoordinatorOption, type CoordinatorOption, withCoordinator } from '../options/coordinator-option.ts';
import { exitCodeOfSignal } from '../process/exit-code.ts';
import { followJob } from '../progress/follow-job.ts';
import { createProgressView } from '../progress/progress-view.ts';
import { reportEnd } from '../summary/report-end.ts';

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
