import type { Command } from 'commander';
import { addCoordinatorOption, type CoordinatorOption, withCoordinator } from '../options/coordinator-option.ts';
import { describeJob } from '../summary/describe-job.ts';
import { jobFacts } from '../summary/job-facts.ts';

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
