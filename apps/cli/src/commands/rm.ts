import { placeOfUri } from '@halogrid/results/place';
import { describeBytes } from '@halogrid/service/describe-bytes';
import type { Command } from 'commander';
import type { CoordinatorClient } from '../client/coordinator-client.ts';
import { addCoordinatorOption, type CoordinatorOption, withCoordinator } from '../options/coordinator-option.ts';
import { plural } from '../progress/quantities.ts';
import { staysSentence } from '../removal/describe-garbage.ts';
import { isOutput, type Removed, removableOutput, removeOut } from '../removal/remove-out.ts';

type RmOptions = CoordinatorOption & { unfinished?: boolean; dryRun?: boolean; json?: boolean };

export function addRmCommand(program: Command): void {
  const command = program
    .command('rm')
    .description(
      'Removes the results of jobs: of outputs in folders or buckets, or of jobs by their ids, whose coordinator removes and forgets them. ' +
        'Only files that jobs write go; a job that runs is refused, and then nothing is removed.',
    )
    .argument(
      '<job|out...>',
      'outputs (folders, s3://BUCKET/PREFIX), or ids of jobs, or unique beginnings or ends of ids',
    );
  addCoordinatorOption(command)
    .option('--unfinished', 'also remove outputs of jobs that were interrupted and could go on')
    .option('--dry-run', 'only show what would be removed')
    .option('--json', 'print JSON')
    .action(async (names: string[], options: RmOptions) => {
      const { dryRun = false, json } = options;
      // All are checked before anything is removed.
      const removals = await Promise.all(names.map((name) => prepare(name, options)));
      const done: Removed[] = [];
      for (const remove of removals) {
        const removed = await remove();
        done.push(removed);
        if (!json) process.stdout.write(describeRemoved(removed, dryRun));
      }
      if (json) process.stdout.write(`${JSON.stringify(done, null, 2)}\n`);
    });
}

/** Checks that an argument may be removed, and returns what removes it. */
async function prepare(name: string, options: RmOptions): Promise<() => Promise<Removed>> {
  const { unfinished = false, dryRun = false } = options;
  if (await isOutput(name)) {
    const output = await removableOutput(name, unfinished);
    return () => removeOut(output, dryRun);
  }
  const ask = (dry: boolean) => withCoordinator(options, async (client) => removeJob(client, name, dry));
  const found = await ask(true);
  return async () => (dryRun ? found : ask(false));
}

async function removeJob(client: CoordinatorClient, name: string, dryRun: boolean): Promise<Removed> {
  const { jobId: job, out, ...removed } = await client.remove(name, { dryRun });
  return { job, out: placeOfUri(out).at, ...removed };
}

/** A removed job in sentences, a line each. */
export function describeRemoved({ job, out, files, bytes, stays, indexes }: Removed, dryRun: boolean): string {
  const would = dryRun ? 'would be removed' : 'removed';
  const what = files > 0 ? `${describeBytes(bytes)} in ${plural(files, 'file')}` : 'none of its results are there';
  return [
    `Job ${job} ${would}: ${what} ('${out}').`,
    ...(stays.length > 0 ? [staysSentence(out, stays)] : []),
    ...indexes.map((index) => `The index '${index}' has frames of job ${job}: searches still find them.`),
  ]
    .map((line) => `${line}\n`)
    .join('');
}
