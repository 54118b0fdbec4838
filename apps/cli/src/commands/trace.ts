import { writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { chromeTrace } from '@halogrid/service/chrome-trace';
import { makeFolders } from '@halogrid/service/make-folders';
import { writing } from '@halogrid/service/system-errors';
import type { Command } from 'commander';
import type { CoordinatorClient } from '../client/coordinator-client.ts';
import {
  addCoordinatorOption,
  type CoordinatorOption,
  jobArgument,
  withCoordinator,
} from '../options/coordinator-option.ts';

export function addTraceCommand(program: Command): void {
  const command = program
    .command('trace')
    .description(
      'Writes a timeline of a job for https://ui.perfetto.dev or chrome://tracing: when each shard was leased, read, decoded, ' +
        'computed and merged, with a row for each node and stage.',
    )
    .argument('<job>', jobArgument);
  addCoordinatorOption(command)
    .option('--to <file>', 'where to write it (default: halogrid-trace-ID.json)')
    .action(async (jobId: string, options: CoordinatorOption & { to?: string }) => {
      console.log(await withCoordinator(options, (client) => writeTrace(client, jobId, options.to, '--to')));
    });
}

/** Writes the timeline of a job to a file, and resolves with a sentence about it. */
export async function writeTrace(
  client: CoordinatorClient,
  jobId: string,
  to: string | undefined,
  option: '--to' | '--trace',
): Promise<string> {
  const trace = await client.trace(jobId);
  const { job, shards, nodes, every } = trace;
  const file = resolve(to ?? `halogrid-trace-${job?.jobId ?? jobId}.json`);
  await writing(file, `another file with ${option}`, async () => {
    await makeFolders(dirname(file));
    await writeFile(file, `${JSON.stringify(chromeTrace(trace))}\n`);
  });
  const share = every > 1 ? `one of ${every} shards, ` : '';
  return `${file}: ${share}${shards.length} shards on ${nodes.length} ${nodes.length === 1 ? 'node' : 'nodes'}; open it at https://ui.perfetto.dev`;
}
