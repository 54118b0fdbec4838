import type { Command } from 'commander';
import { addCoordinatorOption, type CoordinatorOption, withCoordinator } from '../options/coordinator-option.ts';
import { describePixels } from '../progress/quantities.ts';
import { jobFacts } from '../summary/job-facts.ts';
import { table } from '../summary/table.ts';

export function addStatusCommand(program: Command): void {
  const command = program
    .command('status')
    .summary('show a job as it is now')
    .description('Shows a job as it is now.')
    .argument('<job>', 'its id');
  addCoordinatorOption(command)
    .option('--json', 'as JSON')
    .action(async (jobId: string, options: CoordinatorOption & { json?: boolean }) => {
      const facts = jobFacts(await withCoordinator(options, (client) => client.get(jobId)));
      process.stdout.write(options.json ? `${JSON.stringify(facts, null, 2)}\n` : describe(facts));
    });
}

function describe(job: ReturnType<typeof jobFacts>): string {
  const { counts } = job;
  const soFar = job.planned ? '' : ' found so far';
  return table([
    ['job', job.id],
    ['state', job.state + (job.error ? `: ${job.error}` : '')],
    ['submitted', job.submitted],
    ...(job.finished ? [['finished', job.finished]] : []),
    ['kernels', job.pipeline],
    ['sources', `${counts.sources}${soFar}, ${counts.frames} merged, ${counts.quarantined} quarantined`],
    ['shards', `${counts.shardsDone} of ${counts.shards}${soFar}, ${counts.attempts} attempts`],
    ['pixels', describePixels(counts.pixels)],
    ['nodes', String(job.nodes)],
    ...(job.digest ? [['digest', job.digest]] : []),
    ['results', job.out],
  ]);
}
