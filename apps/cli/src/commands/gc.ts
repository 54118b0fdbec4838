import { stat } from 'node:fs/promises';
import { UsageError } from '@halogrid/service/usage-error';
import { isBucketUri } from '@halogrid/sources/prefix-uri';
import type { Command } from 'commander';
import { addClientSecurityOptions, type ClientSecurityOption, withCoordinator } from '../options/coordinator-option.ts';
import { duration } from '../options/option-values.ts';
import { exitCodes } from '../process/exit-code.ts';
import { collectGarbage, type Garbage, sizesByOwner } from '../removal/collect-garbage.ts';
import { describeGarbage, notesOnRemoved } from '../removal/describe-garbage.ts';

interface GcOptions extends ClientSecurityOption {
  coordinator?: string;
  olderThan?: number;
  unfinished?: boolean;
  dryRun?: boolean;
  json?: boolean;
}

/** Where `run` writes unless told otherwise. */
const defaultFolder = 'halogrid-out';

export function addGcCommand(program: Command): void {
  const command = program
    .command('gc')
    .description(
      'Shows what outputs of jobs take in folders or buckets and below them, by job and owner, and removes old ones. Without --older-than and ' +
        '--unfinished it only shows them, and completes removals that were interrupted.',
    )
    .argument('[dir|uri...]', `where to look: folders, s3://BUCKET/PREFIX (default: ${defaultFolder})`)
    .option(
      '--older-than <duration>',
      'remove results of jobs that ended this long ago: 30d, 12h',
      duration('--older-than'),
    )
    .option(
      '--unfinished',
      'also remove what interrupted jobs left that nobody leads (with --older-than: not written since)',
    )
    .option('--dry-run', 'only show what would be removed')
    .option(
      '--coordinator <host:port,…>',
      'keep what this coordinator runs or can go on with (default: none is asked)',
    );
  addClientSecurityOptions(command)
    .option('--json', 'print JSON')
    .action(async (dirs: string[], options: GcOptions) => {
      const folders = dirs.length > 0 ? dirs : [defaultFolder];
      await checkFolders(folders);
      const jobs = await jobsOf(options);
      const nowMs = Date.now();
      const { olderThan: olderThanMs, unfinished, dryRun = false, json } = options;
      const garbage = await collectGarbage(folders, { nowMs, olderThanMs, unfinished, dryRun, ...(jobs && { jobs }) });
      const isAsked = olderThanMs !== undefined;
      process.stdout.write(
        json ? `${JSON.stringify(facts(garbage), null, 2)}\n` : describeGarbage(garbage, nowMs, { dryRun, isAsked }),
      );
      for (const line of [...notesOnRemoved(garbage.judged), ...garbage.failures]) console.error(line);
      if (garbage.failures.length > 0) process.exitCode = exitCodes.failed;
    });
}

async function checkFolders(folders: readonly string[]): Promise<void> {
  for (const folder of folders) {
    if (isBucketUri(folder)) continue;
    if ((await stat(folder).catch(() => undefined))?.isDirectory()) continue;
    throw new UsageError(`Expected folders that hold outputs but '${folder}' is none`);
  }
}

/** All jobs of the coordinator, by id; undefined if none is to be asked. */
async function jobsOf({ coordinator, ...security }: GcOptions) {
  if (coordinator === undefined) return undefined;
  const { jobs } = await withCoordinator({ coordinator, ...security }, (client) => client.jobs());
  return new Map(jobs.map((job) => [job.jobId, job]));
}

function facts({ judged, strays, failures }: Garbage) {
  const jobs = judged.map(({ output, ...rest }) => {
    const { jobId, state, owner = null, changedMs, path } = output;
    return { job: jobId, state, owner, ended: new Date(changedMs).toISOString(), out: path, ...rest };
  });
  const uploads = strays.map(({ path = null, fate, uploads }) => ({ out: path, fate, uploads: uploads.length }));
  return { jobs, owners: sizesByOwner(judged), uploads, failures };
}
