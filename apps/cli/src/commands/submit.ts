import type { Command } from 'commander';
import { addCoordinatorOption, type CoordinatorOption, withCoordinator } from '../options/coordinator-option.ts';
import { addJobOptions, type JobOptions, parseJob } from '../options/job-options.ts';
import { jobFacts } from '../summary/job-facts.ts';

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
      const job = await withCoordinator(options, (client) => client.submit(request));
      console.log(options.json ? JSON.stringify(jobFacts(job), null, 2) : job.jobId);
    });
}
