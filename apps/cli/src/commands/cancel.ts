import type { Command } from 'commander';
import { addCoordinatorOption, type CoordinatorOption, withCoordinator } from '../options/coordinator-option.ts';
import { stateWord } from '../progress/describe-progress.ts';

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
