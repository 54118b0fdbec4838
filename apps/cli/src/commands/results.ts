import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { hasEnded, JobState, type JobStatus } from '@halogrid/proto';
import { createClientSecurity, parseAddress, parseAddressList, UsageError } from '@halogrid/service';
import { httpAddress, readCoordinatorFile } from '@halogrid/service/coordinator-file';
import { anotherFolder, writing } from '@halogrid/service/system-errors';
import { isBucketUri } from '@halogrid/sources/prefix-uri';
import type { Command } from 'commander';
import {
  addCoordinatorOption,
  type CoordinatorOption,
  jobArgument,
  withCoordinator,
} from '../options/coordinator-option.ts';
import { addQuietOption, type VoiceChoice } from '../options/voice-options.ts';
import { stateWord } from '../progress/describe-progress.ts';
import { plural } from '../progress/quantities.ts';
import { copyResults } from '../results/copy-results.ts';
import { filesOfOutput, servedFiles } from '../results/result-files.ts';
import { describeSummary } from '../summary/describe-summary.ts';
import { summarise } from '../summary/job-summary.ts';

interface ResultsOptions extends CoordinatorOption, VoiceChoice {
  out?: string;
  http?: string;
  json?: boolean;
}

/** The default HTTP port of a coordinator. */
const httpPort = 9464;

export function addResultsCommand(program: Command): void {
  const command = program
    .command('results')
    .description(
      'Shows where the results of a complete job are, and the summary in job.json. With --out it copies them: from their ' +
        'folder if this machine sees it, otherwise from the coordinator over HTTP.',
    )
    .argument('<job>', jobArgument);
  addQuietOption(addCoordinatorOption(command))
    .option('-o, --out <dir>', 'copy the results into this folder, which must be missing or empty')
    .option(
      '--http <host:port,…>',
      `HTTP address of the coordinator (default: its host, port ${httpPort}, or what --coordinator-file says)`,
    )
    .option('--json', 'print the summary as JSON')
    .action(async (jobId: string, options: ResultsOptions) => {
      const addresses = httpAddresses(options);
      const job = await withCoordinator(options, (client) => client.job(jobId));
      await showResults(job.status, addresses ?? (await addressesInFile(options)), options);
    });
}

/** Undefined if a file has them. Throws UsageError. */
function httpAddresses({ http, coordinator, coordinatorFile }: ResultsOptions): string[] | undefined {
  if (http) return parseAddressList('--http', http);
  if (coordinatorFile !== undefined) return undefined;
  const hosts = parseAddressList('--coordinator', coordinator).map((each) => parseAddress('--coordinator', each).host);
  return [...new Set(hosts)].map((host) => `${host}:${httpPort}`);
}

async function addressesInFile({ coordinatorFile }: ResultsOptions): Promise<string[]> {
  const place = await readCoordinatorFile(coordinatorFile!);
  return place ? [httpAddress(place)] : [];
}

async function showResults(job: JobStatus, addresses: readonly string[], options: ResultsOptions): Promise<void> {
  const { jobId, error } = job;
  if (!hasEnded(job)) {
    throw new UsageError(`Job ${jobId} is ${stateWord(job.state)}: 'halogrid watch ${jobId}' waits for its results`);
  }
  if (job.state !== JobState.COMPLETE) {
    throw new Error(`Job ${jobId} has no results: it is ${stateWord(job.state)}${error && `: ${error}`}`);
  }
  const written = await summarise(job);
  // Only job.json has the seconds, so it was read here.
  const isHere = written.seconds !== undefined;
  const { out, json, quiet } = options;
  if (out === undefined) {
    if (!isHere && !quiet)
      console.error(
        "The results are not on this machine, or cannot be read; '--out DIR' copies them from the coordinator.",
      );
    process.stdout.write(json ? `${JSON.stringify(written, null, 2)}\n` : describeSummary(written, process.cwd()));
    return;
  }
  const files = isHere
    ? filesOfOutput(job.spec!.out)
    : servedFiles(addresses, jobId, createClientSecurity(options, process.env));
  const count = await writing(out, anotherFolder, () => copyResults(files, out));
  if (!quiet)
    console.error(`${plural(count, 'file')} copied from ${isHere ? whereIs(job.spec!.out) : 'the coordinator'}.`);
  const spec = { ...job.spec!, out: pathToFileURL(resolve(out)).href };
  const copied = await summarise({ ...job, spec });
  process.stdout.write(json ? `${JSON.stringify(copied, null, 2)}\n` : describeSummary(copied, process.cwd()));
}

const whereIs = (out: string): string => (isBucketUri(out) ? `'${out}'` : 'this machine');
